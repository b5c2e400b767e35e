import { LIMITS } from '../../limits.ts';
import { OPERATION_IDS } from '../operations.ts';
import { type AssumptionShape, addedError, option, WITH_BODY } from './assumption-shape.ts';

/** The largest body, in bytes, that each option of `body-limit` accepts. */
export const BODY_LIMITS = {
  '1mb': 2 ** 20,
  '10kb': 10 * 2 ** 10,
  none: LIMITS.serviceBody,
} as const;

const rejectsAbove = (bytes: number) =>
  addedError(413, 'The body is too large.', { send: { body: bytes + 1 } });

export const INPUT = {
  'invalid-input': {
    question: 'Which status does the Error for a malformed path id, query parameter or body have?',
    options: [option('400', '400 Bad Request'), option('422', '422 Unprocessable Content')],
    // How to get this error differs by operation: see cli/commands/reply-recipes.ts.
    replies: {
      400: addedError(400, 'Invalid input.', {}),
      422: addedError(422, 'Invalid input.', {}),
    },
    touches: OPERATION_IDS,
  },
  'limit-out-of-range': {
    question: 'What happens to an integer `limit` outside 1 to 100?',
    options: [
      option('reject', 'invalid input'),
      option('clamp', 'moved to the nearest bound'),
      option('default', 'treated as 20'),
    ],
    touches: ['listPets'],
  },
  'status-filter': {
    question: 'What does `GET /pets?status=` return for a status that was never seen?',
    options: [
      option('reject', 'invalid input'),
      option('empty', 'an empty array'),
      option('ignore', 'as if there were no filter'),
    ],
    touches: ['listPets'],
  },
  'animal-status-values': {
    question: 'Which statuses can an animal be created with?',
    options: [
      option('seen', '`available`, `pending` and `sold`'),
      option('any', 'any string; the filter takes any string too'),
    ],
    touches: ['listPets', 'createPet'],
    seenIn: ['by status-filter'],
  },
  'name-limits': {
    question: "How long may an animal's name be?",
    options: [
      option('none', 'any string'),
      option('non-empty', 'at least one character'),
      option('255', '1 to 255 characters'),
    ],
    touches: ['createPet'],
  },
  'id-on-create': {
    question: 'What happens to an `id` in the body on creation?',
    options: [option('reject', 'invalid input'), option('ignore', 'it is dropped')],
    touches: ['createPet'],
  },
  'unknown-body-fields': {
    question: 'What happens to body fields that the document does not name?',
    options: [option('ignore', 'they are dropped'), option('reject', 'invalid input')],
    touches: WITH_BODY,
  },
  'unknown-query': {
    question: 'What happens to query parameters that the document does not name?',
    options: [option('ignore', 'they are dropped'), option('reject', 'invalid input')],
    touches: OPERATION_IDS,
  },
  'negative-quantity': {
    question: 'May a stock quantity be negative?',
    options: [option('reject', 'invalid input'), option('accept', 'it is stored')],
    touches: ['updateInventory'],
  },
  'media-type': {
    question: 'What happens to a body without `Content-Type: application/json`?',
    options: [
      option('reject', '415 Unsupported Media Type'),
      option('lenient', 'it is read as JSON anyway'),
    ],
    replies: {
      reject: addedError(415, 'The body is not declared as JSON.', {
        send: { mediaType: 'text/plain' },
      }),
    },
    touches: WITH_BODY,
  },
  'body-limit': {
    question: 'How large may a body be?',
    options: [
      option('1mb', '1 MiB; a larger one gets 413'),
      option('10kb', '10 KiB; a larger one gets 413'),
      option('none', 'no limit; the mock itself has one of 8 MiB, with 413'),
    ],
    replies: {
      '1mb': rejectsAbove(BODY_LIMITS['1mb']),
      '10kb': rejectsAbove(BODY_LIMITS['10kb']),
      none: rejectsAbove(BODY_LIMITS.none),
    },
    touches: WITH_BODY,
  },
  // Its options choose only between an input error and the 401, not among documented replies.
  'check-order': {
    question: 'Which error wins if both the key and the input are bad?',
    options: [option('auth-first', 'the 401'), option('input-first', 'the input error')],
    touches: OPERATION_IDS,
  },
} as const satisfies Record<string, AssumptionShape>;

export const WIRE = {
  'read-only-keys': {
    question: 'May a read-only key be used on POST, PATCH and DELETE?',
    options: [option('ignored', 'yes, like any other key'), option('403', '403 Forbidden')],
    replies: {
      403: addedError(403, 'The key is read-only.', {
        send: { key: 'demo-read-only-key' },
        scenario: 'read-only-key',
      }),
    },
    touches: ['createPet', 'updateInventory', 'cancelOrder'],
  },
  'auth-challenge': {
    question: 'Does a 401 have `WWW-Authenticate`?',
    options: [option('sent', '`Bearer`, as RFC 6750 writes it'), option('absent', 'no')],
    headers: {
      sent: { statuses: [401], describe: { 'WWW-Authenticate': 'The challenge of RFC 6750.' } },
    },
    touches: OPERATION_IDS,
    seenIn: ['a 401'],
  },
  'error-codes': {
    question: 'How is the `code` of an Error spelled?',
    options: [
      option('snake_case', '`order_not_found`'),
      option('UPPER_CASE', '`ORDER_NOT_FOUND`'),
      option('kebab-case', '`order-not-found`'),
      option('numeric', '`40401`'),
    ],
    touches: OPERATION_IDS,
    seenIn: ['an error'],
  },
  // Only a 429 shows this choice: how many calls fit into a second depends on the machine.
  'rate-limit': {
    question: 'How many requests may a key make?',
    options: [
      option('none', 'any number'),
      option('10/s', '10 a second, then 429 with `Retry-After`; any other N/s or N/m works too'),
    ],
    replies: {
      '10/s': addedError(429, 'Too many requests for this key.', {
        // With a frozen clock, all requests fall into the same second, however slow the machine is.
        arrange: ['PUT /clock {"frozen":true}'],
        send: { times: 11 },
      }),
    },
    headers: {
      '10/s': {
        statuses: [429],
        describe: { 'Retry-After': 'The seconds until the next request is allowed.' },
      },
    },
    touches: OPERATION_IDS,
  },
  'unknown-method': {
    question: 'What does a known path return for another method?',
    options: [option('405', '405 Method Not Allowed with `Allow`'), option('404', '404 Not Found')],
    touches: [],
  },
  'absent-optionals': {
    question: 'How is an optional field without a value written?',
    options: [option('omitted', 'it is left out'), option('null', 'as null')],
    touches: ['listPets', 'createPet', 'getPet', 'listOrders'],
    seenIn: ['listPets 200', 'listOrders 200', 'createPet 201', 'getPet 200'],
  },
  'date-format': {
    question: 'How is a date-time written?',
    options: [
      option('utc-seconds', '`2026-11-21T09:30:00Z`'),
      option('utc-millis', '`2026-11-21T09:30:00.000Z`'),
      option('offset', '`2026-11-21T11:30:00+02:00`, the same instant'),
    ],
    touches: ['listOrders'],
    seenIn: ['listOrders 200'],
  },
  'json-charset': {
    question: 'Does the `Content-Type` of JSON have a charset?',
    options: [
      option('bare', '`application/json`'),
      option('utf-8', '`application/json; charset=utf-8`'),
    ],
    touches: OPERATION_IDS,
    seenIn: ['a body'],
  },
  cors: {
    question: 'Can pages of other origins use the service?',
    options: [
      option('allowed', 'CORS headers and preflight on its paths'),
      option('absent', 'no CORS headers'),
    ],
    touches: OPERATION_IDS,
    seenIn: ['a call'],
  },
} as const satisfies Record<string, AssumptionShape>;
