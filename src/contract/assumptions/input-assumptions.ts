import { OPERATION_IDS } from '../operations.ts';
import { type AssumptionShape, addsReply, option, WITH_BODY } from './assumption-shape.ts';

const rejectsAbove = (bytes: number) =>
  addsReply(413, 'The body is too large.', { send: { body: bytes + 1 } });

export const INPUT = {
  'invalid-input': {
    // Its ways are in responses/ways.ts: each operation has another.
    question: 'Which status does the Error for a malformed path id, query parameter or body have?',
    options: [
      option('400', '400 Bad Request', addsReply(400, 'Invalid input.', {})),
      option('422', '422 Unprocessable Content', addsReply(422, 'Invalid input.', {})),
    ],
    touches: OPERATION_IDS,
    seenIn: [],
  },
  'limit-out-of-range': {
    question: 'What happens to an integer `limit` outside 1 to 100?',
    options: [
      option('reject', 'invalid input'),
      option('clamp', 'moved to the nearest bound'),
      option('default', 'treated as 20'),
    ],
    touches: ['listPets'],
    seenIn: [],
  },
  'status-filter': {
    question: 'What does `GET /pets?status=` return for a status that was never seen?',
    options: [
      option('reject', 'invalid input'),
      option('empty', 'an empty array'),
      option('ignore', 'as if there were no filter'),
    ],
    touches: ['listPets'],
    seenIn: [],
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
    seenIn: [],
  },
  'id-on-create': {
    question: 'What happens to an `id` in the body on creation?',
    options: [option('reject', 'invalid input'), option('ignore', 'it is dropped')],
    touches: ['createPet'],
    seenIn: [],
  },
  'unknown-body-fields': {
    question: 'What happens to body fields that the document does not name?',
    options: [option('ignore', 'they are dropped'), option('reject', 'invalid input')],
    touches: WITH_BODY,
    seenIn: [],
  },
  'unknown-query': {
    question: 'What happens to query parameters that the document does not name?',
    options: [option('ignore', 'they are dropped'), option('reject', 'invalid input')],
    touches: OPERATION_IDS,
    seenIn: [],
  },
  'negative-quantity': {
    question: 'May a stock quantity be negative?',
    options: [option('reject', 'invalid input'), option('accept', 'it is stored')],
    touches: ['updateInventory'],
    seenIn: [],
  },
  'media-type': {
    question: 'What happens to a body without `Content-Type: application/json`?',
    options: [
      option(
        'reject',
        '415 Unsupported Media Type',
        addsReply(415, 'The body is not declared as JSON.', { send: { mediaType: 'text/plain' } }),
      ),
      option('lenient', 'it is read as JSON anyway'),
    ],
    touches: WITH_BODY,
    seenIn: [],
  },
  'body-limit': {
    question: 'How large may a body be?',
    options: [
      option('1mb', '1 MiB; a larger one gets 413', rejectsAbove(2 ** 20)),
      option('10kb', '10 KiB; a larger one gets 413', rejectsAbove(10 * 2 ** 10)),
      option(
        'none',
        'no limit; the mock itself has one of 8 MiB, with 413',
        rejectsAbove(64 * 2 ** 20),
      ),
    ],
    touches: WITH_BODY,
    seenIn: [],
  },
  'check-order': {
    question: 'Which error wins if both the key and the input are bad?',
    options: [option('auth-first', 'the 401'), option('input-first', 'the input error')],
    touches: OPERATION_IDS,
    // It could replace a documented reply too, but a client may rely on those.
    seenIn: [],
  },
} as const satisfies Record<string, AssumptionShape>;
