import { type AssumptionShape, option, reply } from './assumption-shape.ts';

/** What the document leaves open about the inventory. */
export const INVENTORY = {
  'inventory-on-create': {
    question: 'Does a created animal get an inventory entry?',
    options: [option('entry', 'one with quantity 0 and status `sold`'), option('none', 'no')],
    touches: ['createPet', 'listInventory', 'updateInventory'],
  },
  'inventory-missing-entry': {
    question: 'What does PATCH return for an animal without an inventory entry?',
    options: [
      option('404', '404 Not Found', reply(404, 'The animal has no inventory entry.')),
      option('create', 'it creates the entry'),
    ],
    touches: ['updateInventory'],
  },
  'inventory-status': {
    question: "Does PATCH change the entry's status?",
    options: [
      option('unchanged', 'never'),
      option('follows-quantity', '`sold` at 0, `available` above'),
    ],
    touches: ['updateInventory'],
  },
  'animal-follows-stock': {
    question: "Does PATCH to or from 0 change the animal's own status?",
    options: [option('no', 'no'), option('yes', 'to `sold` at 0, to `available` from 0')],
    touches: ['updateInventory', 'getPet', 'listPets'],
  },
} as const satisfies Record<string, AssumptionShape>;
