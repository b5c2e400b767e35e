import { UNKNOWN_ID } from '../operations.ts';
import { type AssumptionShape, addedError, option } from './assumption-shape.ts';

const PAST_SUNSET = 'The operation is past its sunset.';
const AFTER_SUNSET = 'PUT /clock {"now":"2030-12-06T00:00:00Z"}';

export const ANIMALS = {
  'unknown-pet': {
    question: 'Which status does the Error for an unknown `petId` have?',
    options: [option('404', '404 Not Found'), option('400', '400 Bad Request')],
    replies: {
      404: addedError(404, 'No animal has this id.', {
        send: { id: UNKNOWN_ID },
        scenario: 'empty-store',
      }),
      400: addedError(400, 'No animal has this id.', { send: { id: UNKNOWN_ID } }),
    },
    touches: ['getPet', 'updateInventory'],
  },
  'pets-order': {
    question: 'In which order are animals listed?',
    options: [
      option('id', 'ascending id'),
      option('newest', 'descending id'),
      option('shuffled', 'shuffled by the seed, the same at every call'),
    ],
    touches: ['listPets'],
    seenIn: ['listPets 200'],
  },
  'pets-paging': {
    question: 'How does a client ask for the next page of animals?',
    options: [
      option('none', 'not at all'),
      option('cursor', '`Link` with rel="next" and an opaque `cursor`, absent on the last page'),
      option('offset', 'the parameter `offset`; the reply carries `X-Total-Count`'),
    ],
    headers: {
      cursor: {
        statuses: [200],
        describe: { Link: 'The next page, with rel="next"; absent on the last page.' },
      },
      offset: {
        statuses: [200],
        describe: { 'X-Total-Count': 'The number of animals on all pages.' },
      },
    },
    touches: ['listPets'],
    seenIn: ['listPets 200'],
  },
  'created-status': {
    question: 'Which status does an animal get if it is created without one?',
    options: [option('absent', 'none'), option('available', '`available`')],
    touches: ['createPet'],
    seenIn: ['createPet 201'],
  },
  'assigned-ids': {
    question: 'Which id does a created animal get?',
    options: [
      option('next', 'the highest id ever used plus one'),
      option('int64', 'an id above 2^53, drawn from the seed and the count'),
    ],
    replies: {
      next: addedError(507, 'No id is left.', {
        arrange: ['POST /animals {"id":9223372036854775807,"name":"Last","categoryId":1}'],
      }),
    },
    touches: ['createPet'],
    seenIn: ['createPet 201'],
  },
  'deprecation-headers': {
    question: 'Does `GET /pets/{petId}` announce its deprecation in headers?',
    options: [
      option(
        'sent',
        '`Deprecation` (RFC 9745), `Sunset` (RFC 8594) and a `Link` to its successor on every reply; the date of `Deprecation` and the address are invented',
      ),
      option('absent', 'no'),
    ],
    headers: {
      sent: {
        // Every status that getPet can have under some choice of options.
        statuses: [200, 400, 401, 404, 410, 422, 429],
        describe: {
          Deprecation: 'When the operation was deprecated (RFC 9745).',
          Sunset: 'When the operation may be removed (RFC 8594).',
          Link: 'The documentation of its successor.',
        },
      },
    },
    touches: ['getPet'],
    seenIn: ['getPet'],
  },
  'after-sunset': {
    question: 'What does `GET /pets/{petId}` answer after its sunset on 2030-12-05?',
    options: [
      option('unchanged', 'as before'),
      option('410', '410 Gone'),
      option('404', '404 Not Found'),
    ],
    replies: {
      410: addedError(410, PAST_SUNSET, { arrange: [AFTER_SUNSET], scenario: 'after-sunset' }),
      404: addedError(404, PAST_SUNSET, { arrange: [AFTER_SUNSET] }),
    },
    touches: ['getPet'],
  },
} as const satisfies Record<string, AssumptionShape>;

export const INVENTORY = {
  'inventory-on-create': {
    question: 'Does a created animal get an inventory entry?',
    options: [option('entry', 'one with quantity 0 and status `sold`'), option('none', 'no')],
    touches: ['createPet', 'listInventory', 'updateInventory'],
    seenIn: [
      ['createPet 201', 'listInventory'],
      ['createPet 201', 'updateInventory'],
    ],
  },
  'inventory-missing-entry': {
    question: 'What does PATCH return for an animal without an inventory entry?',
    options: [option('404', '404 Not Found'), option('create', 'it creates the entry')],
    replies: {
      404: addedError(404, 'The animal has no inventory entry.', {
        arrange: ['DELETE /inventory/1'],
        scenario: 'empty-inventory',
      }),
    },
    touches: ['updateInventory'],
  },
  'inventory-status': {
    question: "Does PATCH change the entry's status?",
    options: [
      option('unchanged', 'never'),
      option('follows-quantity', '`sold` at 0, `available` above'),
    ],
    touches: ['updateInventory'],
    seenIn: ['updateInventory 200'],
  },
  'animal-follows-stock': {
    question: "Does PATCH to or from 0 change the animal's own status?",
    options: [option('no', 'no'), option('yes', 'to `sold` at 0, to `available` from 0')],
    touches: ['updateInventory', 'getPet', 'listPets'],
    seenIn: [
      ['updateInventory 200', 'listPets'],
      ['updateInventory 200', 'getPet'],
    ],
  },
} as const satisfies Record<string, AssumptionShape>;

export const ORDERS = {
  'order-status-field': {
    question: 'Does an order have its status?',
    options: [option('hidden', 'no'), option('shown', 'yes, as `status`')],
    touches: ['listOrders'],
    seenIn: ['listOrders 200'],
  },
  'cancelled-orders': {
    question: 'Does `GET /store/orders` list cancelled orders?',
    options: [option('listed', 'yes'), option('removed', 'no')],
    touches: ['listOrders'],
    seenIn: ['listOrders 200'],
  },
  'cancel-again': {
    question: 'What does DELETE return for an order that is already cancelled?',
    options: [
      option('409', '409 Conflict'),
      option('404', '404 Not Found'),
      option('204', '204 No Content'),
    ],
    touches: ['cancelOrder'],
  },
  'conflict-body': {
    question: 'Which body does a 409 have?',
    options: [
      option('error', 'an Error'),
      option('empty', 'none'),
      option('problem', '`application/problem+json` (RFC 9457)'),
    ],
    touches: ['cancelOrder'],
    seenIn: ['a 409'],
  },
  'order-shipping': {
    question: 'How does a pending order become shipped?',
    options: [
      option('manual', 'only by a scenario or the control API'),
      option('at-ship-date', 'when the clock reaches its `shipDate`'),
    ],
    touches: ['listOrders', 'cancelOrder'],
    seenIn: ['listOrders 200'],
  },
  'cancel-restocks': {
    question: "Does cancelling add the order's quantity back to the inventory?",
    options: [option('no', 'no'), option('yes', 'yes')],
    touches: ['cancelOrder', 'listInventory'],
    seenIn: [['cancelOrder 204', 'listInventory']],
  },
} as const satisfies Record<string, AssumptionShape>;
