import type { OperationId } from './operations.ts';

/** A reply that an option adds to what the document shows. */
interface AssumedReply {
  readonly status: number;
  readonly description: string;
  readonly on: readonly OperationId[];
}

/** Headers that an option adds to replies of the operations that the assumption touches. */
interface AssumedHeaders {
  readonly statuses: readonly number[];
  /** What each is for, by name. */
  readonly describe: Readonly<Record<string, string>>;
}

interface AssumptionShape {
  readonly topic: 'Input' | 'Animals' | 'Inventory' | 'Orders' | 'Keys, errors and wire format';
  readonly question: string;
  /** The first option is the default. */
  readonly options: readonly {
    readonly name: string;
    readonly meaning: string;
    readonly reply?: AssumedReply;
    readonly headers?: AssumedHeaders;
  }[];
  /** The operations it can change a reply of. */
  readonly touches: readonly OperationId[];
}

const ANIMALS = ['listPets', 'createPet', 'getPet'] as const;
const EVERY = [
  ...ANIMALS,
  'listInventory',
  'updateInventory',
  'listOrders',
  'cancelOrder',
] as const satisfies readonly OperationId[];
const WITH_BODY = ['createPet', 'updateInventory'] as const;

/** Everything the document leaves open, with the answers that the mock can give. */
export const ASSUMPTIONS = {
  'invalid-input': {
    topic: 'Input',
    question: 'Which status has the Error for a malformed path id, query parameter or body?',
    options: [
      {
        name: '400',
        meaning: '400 Bad Request',
        reply: { status: 400, description: 'Invalid input.', on: EVERY },
      },
      {
        name: '422',
        meaning: '422 Unprocessable Content',
        reply: { status: 422, description: 'Invalid input.', on: EVERY },
      },
    ],
    touches: EVERY,
  },
  'limit-out-of-range': {
    topic: 'Input',
    question: 'What happens to an integer `limit` outside 1 to 100?',
    options: [
      { name: 'reject', meaning: 'invalid input' },
      { name: 'clamp', meaning: 'moved to the nearest bound' },
      { name: 'default', meaning: 'treated as 20' },
    ],
    touches: ['listPets'],
  },
  'status-filter': {
    topic: 'Input',
    question: 'What does `GET /pets?status=` answer for a status that was never seen?',
    options: [
      { name: 'reject', meaning: 'invalid input' },
      { name: 'empty', meaning: 'an empty array' },
      { name: 'ignore', meaning: 'as if there were no filter' },
    ],
    touches: ['listPets'],
  },
  'animal-status-values': {
    topic: 'Input',
    question: 'Which statuses can an animal be created with?',
    options: [
      { name: 'seen', meaning: '`available`, `pending` and `sold`' },
      { name: 'any', meaning: 'any string; the filter takes any string too' },
    ],
    touches: ['listPets', 'createPet'],
  },
  'name-limits': {
    topic: 'Input',
    question: "How long may an animal's name be?",
    options: [
      { name: 'none', meaning: 'any string' },
      { name: 'non-empty', meaning: 'at least one character' },
      { name: '255', meaning: '1 to 255 characters' },
    ],
    touches: ['createPet'],
  },
  'id-on-create': {
    topic: 'Input',
    question: 'What happens to a body that carries `id` on creation?',
    options: [
      { name: 'reject', meaning: 'invalid input' },
      { name: 'ignore', meaning: 'the field is dropped' },
    ],
    touches: ['createPet'],
  },
  'unknown-body-fields': {
    topic: 'Input',
    question: 'What happens to a body with fields the document does not name?',
    options: [
      { name: 'ignore', meaning: 'they are dropped' },
      { name: 'reject', meaning: 'invalid input' },
    ],
    touches: WITH_BODY,
  },
  'unknown-query': {
    topic: 'Input',
    question: 'What happens to query parameters the document does not name?',
    options: [
      { name: 'ignore', meaning: 'they are dropped' },
      { name: 'reject', meaning: 'invalid input' },
    ],
    touches: EVERY,
  },
  'negative-quantity': {
    topic: 'Input',
    question: 'May a stock quantity be negative?',
    options: [
      { name: 'reject', meaning: 'invalid input' },
      { name: 'accept', meaning: 'stored as it is' },
    ],
    touches: ['updateInventory'],
  },
  'media-type': {
    topic: 'Input',
    question: 'What happens to a body without `Content-Type: application/json`?',
    options: [
      {
        name: 'reject',
        meaning: '415 Unsupported Media Type',
        reply: { status: 415, description: 'The body is not declared as JSON.', on: WITH_BODY },
      },
      { name: 'lenient', meaning: 'read as JSON all the same' },
    ],
    touches: WITH_BODY,
  },
  'body-limit': {
    topic: 'Input',
    question: 'How large may a body be?',
    options: [
      {
        name: '1mb',
        meaning: '1 MiB; a larger one gets 413',
        reply: { status: 413, description: 'The body is too large.', on: WITH_BODY },
      },
      {
        name: '10kb',
        meaning: '10 KiB; a larger one gets 413',
        reply: { status: 413, description: 'The body is too large.', on: WITH_BODY },
      },
      {
        name: 'none',
        meaning: 'no limit, but that the mock stops at 64 MiB with 413',
        reply: { status: 413, description: 'The body is too large.', on: WITH_BODY },
      },
    ],
    touches: WITH_BODY,
  },
  'check-order': {
    topic: 'Input',
    question: 'Which error wins when the key and the input are both bad?',
    options: [
      { name: 'auth-first', meaning: 'the 401' },
      { name: 'input-first', meaning: 'the error of the input' },
    ],
    touches: EVERY,
  },
  'unknown-pet': {
    topic: 'Animals',
    question: 'Which status has the Error for a `petId` that no animal has?',
    options: [
      {
        name: '404',
        meaning: '404 Not Found',
        reply: {
          status: 404,
          description: 'No animal has this id.',
          on: ['getPet', 'updateInventory'],
        },
      },
      {
        name: '400',
        meaning: '400 Bad Request',
        reply: {
          status: 400,
          description: 'No animal has this id.',
          on: ['getPet', 'updateInventory'],
        },
      },
    ],
    touches: ['getPet', 'updateInventory'],
  },
  'pets-order': {
    topic: 'Animals',
    question: 'In which order are animals listed?',
    options: [
      { name: 'id', meaning: 'ascending id' },
      { name: 'newest', meaning: 'descending id' },
      { name: 'shuffled', meaning: 'shuffled by the seed, the same at every call' },
    ],
    touches: ['listPets'],
  },
  'pets-paging': {
    topic: 'Animals',
    question: 'How is a further page of animals asked for?',
    options: [
      { name: 'none', meaning: 'not at all' },
      {
        name: 'cursor',
        meaning: '`Link` with rel="next" and an opaque `cursor`, absent on the last page',
        headers: {
          statuses: [200],
          describe: {
            Link: 'Leads to the next page, with rel="next"; absent on the last one.',
          },
        },
      },
      {
        name: 'offset',
        meaning: 'the parameter `offset`; the reply carries `X-Total-Count`',
        headers: {
          statuses: [200],
          describe: { 'X-Total-Count': 'How many animals there are on all pages.' },
        },
      },
    ],
    touches: ['listPets'],
  },
  'created-status': {
    topic: 'Animals',
    question: 'Which status has an animal that was created without one?',
    options: [
      { name: 'absent', meaning: 'none' },
      { name: 'available', meaning: '`available`' },
    ],
    touches: ['createPet'],
  },
  'assigned-ids': {
    topic: 'Animals',
    question: 'Which id does a created animal get?',
    options: [
      {
        name: 'next',
        meaning: 'the highest id ever used plus one',
        reply: { status: 507, description: 'No id is left.', on: ['createPet'] },
      },
      { name: 'int64', meaning: 'one above 2^53, drawn from the seed and the count' },
    ],
    touches: ['createPet'],
  },
  'deprecation-headers': {
    topic: 'Animals',
    question: 'Does `GET /pets/{petId}` announce its deprecation in headers?',
    options: [
      {
        name: 'sent',
        meaning: '`Deprecation` (RFC 9745), `Sunset` (RFC 8594) and a `Link` to its successor',
        headers: {
          // Every status that the operation itself answers with, whatever else is assumed.
          statuses: [200, 400, 404, 410],
          describe: {
            Deprecation: 'Since when the operation is deprecated (RFC 9745).',
            Sunset: 'When the operation may go away (RFC 8594).',
            Link: 'Leads to what is said about its successor.',
          },
        },
      },
      { name: 'absent', meaning: 'no' },
    ],
    touches: ['getPet'],
  },
  'after-sunset': {
    topic: 'Animals',
    question: 'What does `GET /pets/{petId}` answer after its sunset on 2030-12-05?',
    options: [
      { name: 'unchanged', meaning: 'as before' },
      {
        name: '410',
        meaning: '410 Gone',
        reply: { status: 410, description: 'The operation was sunset.', on: ['getPet'] },
      },
      {
        name: '404',
        meaning: '404 Not Found',
        reply: { status: 404, description: 'The operation was sunset.', on: ['getPet'] },
      },
    ],
    touches: ['getPet'],
  },
  'inventory-on-create': {
    topic: 'Inventory',
    question: 'Does a created animal get an inventory entry?',
    options: [
      { name: 'entry', meaning: 'one with quantity 0 and status `sold`' },
      { name: 'none', meaning: 'no' },
    ],
    touches: ['createPet', 'listInventory', 'updateInventory'],
  },
  'inventory-missing-entry': {
    topic: 'Inventory',
    question: 'What does PATCH answer for an animal that has no inventory entry?',
    options: [
      {
        name: '404',
        meaning: '404 Not Found',
        reply: {
          status: 404,
          description: 'The animal has no inventory entry.',
          on: ['updateInventory'],
        },
      },
      { name: 'create', meaning: 'it makes the entry' },
    ],
    touches: ['updateInventory'],
  },
  'inventory-status': {
    topic: 'Inventory',
    question: "Does PATCH move the entry's status?",
    options: [
      { name: 'unchanged', meaning: 'never' },
      { name: 'follows-quantity', meaning: '`sold` at 0, `available` above' },
    ],
    touches: ['updateInventory'],
  },
  'animal-follows-stock': {
    topic: 'Inventory',
    question: "Does PATCH to 0, or from 0, move the animal's own status?",
    options: [
      { name: 'no', meaning: 'no' },
      { name: 'yes', meaning: 'to `sold` at 0, to `available` from 0' },
    ],
    touches: ['updateInventory', 'getPet', 'listPets'],
  },
  'order-status-field': {
    topic: 'Orders',
    question: 'Does an order carry its status?',
    options: [
      { name: 'hidden', meaning: 'no' },
      { name: 'shown', meaning: 'yes, as `status`' },
    ],
    touches: ['listOrders'],
  },
  'cancelled-orders': {
    topic: 'Orders',
    question: 'Does `GET /store/orders` list cancelled orders?',
    options: [
      { name: 'listed', meaning: 'yes' },
      { name: 'removed', meaning: 'no' },
    ],
    touches: ['listOrders'],
  },
  'cancel-again': {
    topic: 'Orders',
    question: 'What does DELETE answer for an order that is cancelled already?',
    options: [
      { name: '409', meaning: '409 Conflict' },
      { name: '404', meaning: '404 Not Found' },
      { name: '204', meaning: '204 No Content' },
    ],
    touches: ['cancelOrder'],
  },
  'conflict-body': {
    topic: 'Orders',
    question: 'Which body has a 409?',
    options: [
      { name: 'error', meaning: 'an Error' },
      { name: 'empty', meaning: 'none' },
      { name: 'problem', meaning: '`application/problem+json` (RFC 9457)' },
    ],
    touches: ['cancelOrder'],
  },
  'order-shipping': {
    topic: 'Orders',
    question: 'How does a pending order become shipped?',
    options: [
      {
        name: 'manual',
        meaning: 'not by itself: it is shipped from the start, in the fixture, or never',
      },
      { name: 'at-ship-date', meaning: "when the mock's clock reaches its `shipDate`" },
    ],
    touches: ['listOrders', 'cancelOrder'],
  },
  'cancel-restocks': {
    topic: 'Orders',
    question: "Does cancelling add the order's quantity back to the inventory?",
    options: [
      { name: 'no', meaning: 'no' },
      { name: 'yes', meaning: 'yes' },
    ],
    touches: ['cancelOrder', 'listInventory'],
  },
  'read-only-keys': {
    topic: 'Keys, errors and wire format',
    question: 'May a read-only key be used on POST, PATCH and DELETE?',
    options: [
      { name: 'ignored', meaning: 'yes, it works as any key' },
      {
        name: '403',
        meaning: '403 Forbidden',
        reply: {
          status: 403,
          description: 'The key is read-only.',
          on: ['createPet', 'updateInventory', 'cancelOrder'],
        },
      },
    ],
    touches: ['createPet', 'updateInventory', 'cancelOrder'],
  },
  'auth-challenge': {
    topic: 'Keys, errors and wire format',
    question: 'Does a 401 carry `WWW-Authenticate`?',
    options: [
      {
        name: 'sent',
        meaning: '`Bearer`, as RFC 6750 writes it',
        headers: {
          statuses: [401],
          describe: { 'WWW-Authenticate': 'The challenge of RFC 6750.' },
        },
      },
      { name: 'absent', meaning: 'no' },
    ],
    touches: EVERY,
  },
  'error-codes': {
    topic: 'Keys, errors and wire format',
    question: 'How is the `code` of an Error spelt?',
    options: [
      { name: 'snake_case', meaning: '`order_not_found`' },
      { name: 'UPPER_CASE', meaning: '`ORDER_NOT_FOUND`' },
      { name: 'kebab-case', meaning: '`order-not-found`' },
      { name: 'numeric', meaning: '`40401`' },
    ],
    touches: EVERY,
  },
  'rate-limit': {
    topic: 'Keys, errors and wire format',
    question: 'How many requests may a key make?',
    options: [
      { name: 'none', meaning: 'any number' },
      {
        name: '10/s',
        meaning: '10 a second, then 429 with `Retry-After`; any other N/s or N/m can be given',
        reply: { status: 429, description: 'Too many requests for this key.', on: EVERY },
        headers: {
          statuses: [429],
          describe: { 'Retry-After': 'The seconds until the next request may be made.' },
        },
      },
    ],
    touches: EVERY,
  },
  'unknown-method': {
    topic: 'Keys, errors and wire format',
    question: 'What does a known path answer to another method?',
    options: [
      { name: '405', meaning: '405 Method Not Allowed with `Allow`' },
      { name: '404', meaning: '404 Not Found' },
    ],
    touches: [],
  },
  'absent-optionals': {
    topic: 'Keys, errors and wire format',
    question: 'How is an optional field without a value written?',
    options: [
      { name: 'omitted', meaning: 'it is left out' },
      { name: 'null', meaning: 'as null' },
    ],
    touches: [...ANIMALS, 'listOrders'],
  },
  'date-format': {
    topic: 'Keys, errors and wire format',
    question: 'How is a date-time written?',
    options: [
      { name: 'utc-seconds', meaning: '`2026-11-21T09:30:00Z`' },
      { name: 'utc-millis', meaning: '`2026-11-21T09:30:00.000Z`' },
      { name: 'offset', meaning: '`2026-11-21T11:30:00+02:00`, the same instant' },
    ],
    touches: ['listOrders'],
  },
  'json-charset': {
    topic: 'Keys, errors and wire format',
    question: 'Does the `Content-Type` of JSON name a charset?',
    options: [
      { name: 'bare', meaning: '`application/json`' },
      { name: 'utf-8', meaning: '`application/json; charset=utf-8`' },
    ],
    touches: EVERY,
  },
  cors: {
    topic: 'Keys, errors and wire format',
    question: 'May pages of other origins use the service?',
    options: [
      { name: 'allowed', meaning: 'CORS headers and preflight on its paths' },
      { name: 'absent', meaning: 'no CORS headers' },
    ],
    touches: EVERY,
  },
} as const satisfies Record<string, AssumptionShape>;

export type AssumptionId = keyof typeof ASSUMPTIONS;

type ListedOption<Id extends AssumptionId> = (typeof ASSUMPTIONS)[Id]['options'][number]['name'];

/** An answer that can be chosen. `rate-limit` takes any rate beside the listed ones. */
export type Option<Id extends AssumptionId> =
  | ListedOption<Id>
  | (Id extends 'rate-limit' ? `${number}/${'s' | 'm'}` : never);

/** The option chosen for every assumption. */
export type Choices = { readonly [Id in AssumptionId]: Option<Id> };

export const ASSUMPTION_IDS = Object.keys(ASSUMPTIONS).filter(isAssumptionId);

export function isAssumptionId(id: string): id is AssumptionId {
  return Object.hasOwn(ASSUMPTIONS, id);
}

/** The same table seen through its general shape, for code that treats all assumptions alike. */
export function assumptionShape(id: AssumptionId): AssumptionShape {
  return ASSUMPTIONS[id];
}

/** A rate: a count without a leading zero, a second or a minute. */
const RATE = /^[1-9]\d{0,8}\/[sm]$/;

export function isOption<Id extends AssumptionId>(id: Id, option: string): option is Option<Id> {
  if (id === 'rate-limit' && RATE.test(option)) return true;
  return ASSUMPTIONS[id].options.some(({ name }) => name === option);
}

/**
 * The choices that make the defaults, with the given ones instead where there are any.
 *
 * @example chooseOptions({ 'cancel-again': '404' })
 */
export function chooseOptions(overrides: Partial<Choices> = {}): Choices {
  const choices: Record<string, string> = {};
  for (const id of ASSUMPTION_IDS) choices[id] = overrides[id] ?? ASSUMPTIONS[id].options[0].name;
  if (!isChoices(choices))
    throw new TypeError('An assumption was given an option it does not have.');
  return choices;
}

function isChoices(choices: Readonly<Record<string, string>>): choices is Choices {
  return ASSUMPTION_IDS.every((id) => isOption(id, choices[id] ?? ''));
}
