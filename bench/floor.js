// The floor: the least that a Node server can do for these requests. It checks the key, writes a
// prepared buffer, and for a POST parses the body and keeps the record in a Map.
// Usage: node floor.js PORT LIST_AS_JSON

import { createServer } from 'node:http';

const [port, list = '[]'] = process.argv.slice(2);
/** @type {{ id: number }[]} */
const animals = JSON.parse(list);
const kept = new Map(animals.map((animal) => [animal.id, animal]));
const listReply = prepare(list);
const petReply = prepare(JSON.stringify(animals[0]));
const refusal = prepare('{"code":"UNAUTHORIZED","message":"No valid key","status":401}');
let nextId = 1_000_000_000;

/** @param {string} json */
function prepare(json) {
  const body = Buffer.from(json);
  return { body, headers: { 'Content-Type': 'application/json', 'Content-Length': body.length } };
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {number} status
 * @param {ReturnType<typeof prepare>} reply
 */
function write(response, status, reply) {
  response.writeHead(status, reply.headers);
  response.end(reply.body);
}

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
function create(request, response) {
  /** @type {Buffer[]} */
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const animal = { id: nextId++, ...JSON.parse(Buffer.concat(chunks).toString()) };
    kept.set(animal.id, animal);
    write(response, 201, prepare(JSON.stringify(animal)));
  });
}

createServer((request, response) => {
  if (request.headers.authorization !== 'Bearer demo-key') write(response, 401, refusal);
  else if (request.method === 'POST') create(request, response);
  else write(response, 200, request.url?.startsWith('/v1/pets/') ? petReply : listReply);
}).listen(Number(port), '127.0.0.1');
