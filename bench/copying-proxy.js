// The proxy that --upstream is measured beside: bare node:http that copies bytes over connections that
// it keeps. Looks at nothing and records nothing.
//
// Usage: node copying-proxy.js PORT UPSTREAM_URL

import { Agent, createServer, request } from 'node:http';

const [port, upstream = ''] = process.argv.slice(2);
const { hostname: host, port: upstreamPort } = new URL(upstream);
const agent = new Agent({ keepAlive: true });

createServer((asked, response) => {
  const { method, url: path, rawHeaders: headers } = asked;
  const sent = request({ host, port: upstreamPort, method, path, headers, agent }, (reply) => {
    response.writeHead(reply.statusCode ?? 502, reply.rawHeaders);
    reply.pipe(response);
  });
  asked.pipe(sent);
}).listen(Number(port), '127.0.0.1');
