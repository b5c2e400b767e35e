// The floor: a bare node:http server that sends replies recorded from the subject, with the same
// headers and bodies, from prepared buffers. For POST and PATCH it also parses the body and stores
// the record, as any server must.
//
// Usage: node floor.js PORT RECORDING

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** @import { Recorded } from './record.js' */

const [port, file = ''] = process.argv.slice(2);
/** @type {Recorded[]} */
const recording = JSON.parse(readFileSync(file, 'utf8'));
/** @type {Record<string, Map<string, { status: number, headers: string[], body: Buffer }>>} */
const replies = { GET: new Map(), POST: new Map(), PATCH: new Map() };
for (const { method, path, body, ...head } of recording) {
  replies[method]?.set(path, { ...head, body: Buffer.from(body) });
}
const stored = new Map();
let nextId = 1;

createServer((request, response) => {
  const { method = '', url = '' } = request;
  if (method === 'GET') return send();
  /** @type {Buffer[]} */
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const record = JSON.parse(Buffer.concat(chunks).toString());
    stored.set(method === 'POST' ? nextId++ : url, record);
    send();
  });

  function send() {
    const reply = replies[method]?.get(url);
    if (!reply) throw new Error(`${method} ${url} was not recorded`);
    response.writeHead(reply.status, reply.headers);
    response.end(reply.body);
  }
}).listen(Number(port), '127.0.0.1');
