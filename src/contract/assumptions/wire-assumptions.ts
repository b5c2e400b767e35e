import { OPERATION_IDS } from '../operations.ts';
import { type AssumptionShape, addsHeaders, addsReply, option } from './assumption-shape.ts';

export const WIRE = {
  'read-only-keys': {
    question: 'May a read-only key be used on POST, PATCH and DELETE?',
    options: [
      option('ignored', 'yes, like any other key'),
      option(
        '403',
        '403 Forbidden',
        addsReply(403, 'The key is read-only.', {
          send: { key: 'demo-read-only-key' },
          preset: 'read-only-key',
        }),
      ),
    ],
    touches: ['createPet', 'updateInventory', 'cancelOrder'],
    seenIn: [],
  },
  'auth-challenge': {
    question: 'Does a 401 have `WWW-Authenticate`?',
    options: [
      option(
        'sent',
        '`Bearer`, as RFC 6750 writes it',
        addsHeaders([401], { 'WWW-Authenticate': 'The challenge of RFC 6750.' }),
      ),
      option('absent', 'no'),
    ],
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
  'rate-limit': {
    question: 'How many requests may a key make?',
    options: [
      option('none', 'any number'),
      option('10/s', '10 a second, then 429 with `Retry-After`; any other N/s or N/m works too', {
        ...addsReply(429, 'Too many requests for this key.', {
          // Stopped, so that all requests fall into one second, however slow they are.
          arrange: ['PUT /clock {"frozen":true}'],
          send: { times: 11 },
        }),
        ...addsHeaders([429], { 'Retry-After': 'The seconds until the next request is allowed.' }),
      }),
    ],
    touches: OPERATION_IDS,
    // It could replace a documented reply too, but a client may rely on those, and the number
    // of calls in a second depends on the machine.
    seenIn: [],
  },
  'unknown-method': {
    question: 'What does a known path return for another method?',
    options: [option('405', '405 Method Not Allowed with `Allow`'), option('404', '404 Not Found')],
    touches: [],
    seenIn: [],
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
