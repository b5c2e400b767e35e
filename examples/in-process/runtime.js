// Runs in Node, Deno and Bun: node runtime.js, deno run runtime.js, bun runtime.js
import { createMock } from 'petstore-mock/fetch';
import { PetstoreClient } from '../client.mjs';

const mock = createMock({ scenarios: ['shipped-orders'] });
globalThis.fetch = mock.fetch;
const client = new PetstoreClient(mock.url, mock.key);
console.log(await client.cancel(1), (await client.animals()).length);
