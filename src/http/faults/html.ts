import type { ServerResponse } from 'node:http';

const PAGE = [
  '<html>',
  '<head><title>502 Bad Gateway</title></head>',
  '<body>',
  '<center><h1>502 Bad Gateway</h1></center>',
  '<hr><center>proxy</center>',
  '</body>',
  '</html>',
  '',
].join('\r\n');

/** A proxy's error page. It has none of the service's headers, which the proxy never received. */
export function html(response: ServerResponse): void {
  response.writeHead(502, [
    ...['Server', 'proxy'],
    ...['Content-Type', 'text/html'],
    ...['Content-Length', String(PAGE.length)],
    ...['Connection', 'close'],
  ]);
  response.end(PAGE); // Node leaves it out in a reply to HEAD
}
