// The store that the other servers are given: the same shape and size as the one that
// `petstore-mock --animals N --orders M` generates for itself.

import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

const names = [
  'Bella',
  'Charlie',
  'Luna',
  'Max',
  'Coco',
  'Rocky',
  'Daisy',
  'Oscar',
  'Nala',
  'Milo',
];
const statuses = ['available', 'available', 'pending', 'sold'];
const linesPerWrite = 10_000;

/** @param {number} id */
export function animal(id) {
  return {
    id,
    name: `${names[id % names.length]} ${id}`,
    categoryId: 1 + (id % 12),
    status: statuses[id % statuses.length],
  };
}

/** @param {number} petId */
function inventoryEntry(petId) {
  return { petId, quantity: petId % 40, status: petId % 4 === 3 ? 'sold' : 'available' };
}

/** @param {number} id */
function order(id) {
  return { id, petId: id, quantity: 1, shipDate: '2031-01-15T09:00:00Z', complete: id % 5 === 0 };
}

/**
 * Written in pieces: a million records as one string would not fit in V8's longest.
 *
 * @param {string} file
 * @param {{ animals: number, orders: number }} size
 */
export async function writeStoreFile(file, size) {
  const output = createWriteStream(file);
  output.write('{"animals":[\n');
  await writeRecords(output, size.animals, animal);
  output.write('],"inventory":[\n');
  await writeRecords(output, size.animals, inventoryEntry);
  output.write('],"orders":[\n');
  await writeRecords(output, size.orders, order);
  output.end(']}\n');
  await once(output, 'close');
}

/**
 * @param {import('node:fs').WriteStream} output
 * @param {number} count
 * @param {(id: number) => object} record
 */
async function writeRecords(output, count, record) {
  for (let first = 1; first <= count; first += linesPerWrite) {
    const last = Math.min(count, first + linesPerWrite - 1);
    const lines = [];
    for (let id = first; id <= last; id++) lines.push(JSON.stringify(record(id)));
    const hasRoom = output.write(`${lines.join(',\n')}${last < count ? ',' : ''}\n`);
    if (!hasRoom) await once(output, 'drain');
  }
}
