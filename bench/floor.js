// The floor: a bare node:http server that sends replies recorded from the subject, with the same
// headers and bodies, from prepared buffers. For POST and PATCH it also parses the body and stores
// the record, as any server must.
//
// Usage: node floor.js PORT RECORDING

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [port, file = ''] = process.argv.slice(2);
/** @type {import('./record.js').Recorded[]} */
const recording = JSON.parse(readFileSync(file, 'utf8'));
const reads = prepared(recording.filter(({ method }) => method === 'GET'));
const writes = prepared(recording.filter(({ method }) => method !== 'GET'));
const stored = new Map();
let nextId = 1;

/** @param {import('./record.js').Recorded[]} recorded */
function prepared(recorded) {
  return new Map(
    recorded.map(({ path, status, headers, body }) => {
      return [path, { status, headers, body: Buffer.from(body) }];
    }),
  );
}

createServer((request, response) => {
  const { method, url = '' } = request;
  if (method === 'GET') return send(reads.get(url));
  /** @type {Buffer[]} */
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const record = JSON.parse(Buffer.concat(chunks).toString());
    stored.set(method === 'POST' ? nextId++ : url, record);
    send(writes.get(url));
  });

  /** @param {{ status: number, headers: string[], body: Buffer } | undefined} reply */
  function send(reply) {
    if (!reply) throw new Error(`${method} ${url} was not recorded`);
    response.writeHead(reply.status, reply.headers);
    response.end(reply.body);
  }
}).listen(Number(port), '127.0.0.1');
