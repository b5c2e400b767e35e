// Records of the same shape and size as those that `petstore-mock --animals N --orders M` generates.

import { writeFile } from 'node:fs/promises';

const NAMES = [
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
const STATUSES = ['available', 'available', 'pending', 'sold'];

/** @param {number} id */
export function newAnimal(id) {
  return {
    name: `${NAMES[id % NAMES.length]} ${id}`,
    categoryId: 1 + (id % 12),
    status: STATUSES[id % STATUSES.length],
  };
}

/** @param {number} id */
const animal = (id) => ({ id, ...newAnimal(id) });

/** @param {number} petId */
const entry = (petId) => ({
  petId,
  quantity: petId % 40,
  status: petId % 4 === 3 ? 'sold' : 'available',
});

/** @param {number} id */
const order = (id) => ({
  id,
  petId: id,
  quantity: 1,
  shipDate: '2031-01-15T09:00:00Z',
  complete: id % 5 === 0,
});

/**
 * A file that json-server and `--fixture` read.
 *
 * @param {string} file
 * @param {{ animals: number, orders: number }} size
 */
export async function writeStoreFile(file, size) {
  const store = {
    animals: records(size.animals, animal),
    inventory: records(size.animals, entry),
    orders: records(size.orders, order),
  };
  await writeFile(file, JSON.stringify(store));
}

/**
 * @param {number} count
 * @param {(id: number) => object} make
 */
function records(count, make) {
  return Array.from({ length: count }, (_, i) => make(i + 1));
}
