import { OPERATIONS } from '../../contract/operations.ts';
import { describe } from '../../words.ts';
import { UNKNOWN_WORD } from '../reply-differences.ts';
import { withId } from '../reply-parts.ts';
import type {
  CheckRequest,
  CheckTranscript,
  DocumentRule,
  Effect,
  Need,
} from './check-transcript.ts';
import { sunsetDay, UNKNOWN_ORDER } from './read-requests.ts';
import {
  call,
  KEPT,
  listInventory,
  listOrders,
  listPets,
  NO_KEY,
  ORIGIN,
  readPet,
  SENT_ID,
  unlike,
  wrong,
} from './request-parts.ts';

type More = Partial<CheckRequest>;

const CREATED_PET: Need = {
  description: 'a created animal',
  after: 'create',
  find: (check) => check.id('create')?.toString(),
};

/** The created animal whose stock the check changes. */
const STOCKED_PET: Need = {
  description: 'a created animal',
  after: 'createPending',
  find: (check) => check.id('createPending')?.toString(),
};

const CANCELLED_ORDER: Need = {
  description: 'an order that was cancelled',
  after: 'cancel',
  find: (check) => check.cancelled[0]?.order?.toString(),
};

/** The reply to a creation has what was sent. */
const asSent: DocumentRule = ({ record, sent }) =>
  unlike(
    record,
    sent,
    ['name', 'categoryId', 'status'].filter((field) => Object.hasOwn(sent, field)),
  );

const asStocked: DocumentRule = ({ record, sent }, check) =>
  unlike(record, { petId: check.id('createPending'), ...sent });

/** A body without a required field, or with one of another type, is not accepted. */
function refuses(at: string): DocumentRule {
  return ({ accepted, status, definition }) => {
    const found = `${status} for ${definition.why}`;
    return accepted ? [{ where: 'field', at, expected: 'a refusal', found }] : KEPT;
  };
}

/** An animal that may follow its stock has this status after a write. */
function follows(
  write: 'stock5' | 'stock0',
  read: 'petAt5' | 'petAt0',
  status: 'available' | 'sold',
): Effect {
  return {
    isShown: (check) => {
      const record = check.record(read);
      if (record === undefined) return check.hasPassedSunset;
      return !check.accepted(write) || record.status === status;
    },
  };
}

/** The statuses of an order before and after the check cancelled it; undefined if it is not listed. */
function statusesOf(check: CheckTranscript, order: bigint | undefined) {
  const lists = [check.list('orders'), check.list('ordersCancelled')];
  const [before, after] = lists.map((list) => withId(list, order));
  return { before: before?.status, after: after?.status, isListed: after !== undefined };
}

const animal = (name: string, more = '') => `{"name":"${ORIGIN}: ${name}","categoryId":1${more}}`;

/** An int64 that a double cannot hold. */
const LARGE_CATEGORY = 2n ** 53n + 1n;

/** One character more than `name-limits: 255` allows. */
const LONG_NAME = `${ORIGIN}: `.padEnd(256, 'x');

/** A body that is refused whatever its size, so that it creates nothing. */
const refusedBody = (bytes: number) => '{}'.padEnd(bytes);

const createPet = (body: string, why: string, more?: More) =>
  call('createPet', '/pets', why, { body, rules: [asSent], ...more });
const setStock = (body: string, why: string, more?: More) =>
  call('updateInventory', '/inventory/{}', why, {
    body,
    needs: STOCKED_PET,
    excuse: ({ status }, check) =>
      status === 404 && check.createdEntry('createPending') === undefined,
    ...more,
  });
const cancel = (why: string, more?: More) => call('cancelOrder', '/store/orders/{}', why, more);

/** The requests that write, and those that look at what was written. */
export const WRITE_REQUESTS = {
  create: createPet(
    `{"name":"${ORIGIN}: no status","categoryId":${LARGE_CATEGORY}}`,
    'an animal without a status, in a category beyond 2^53',
    { status: 201 },
  ),
  createPending: createPet(animal('stock', ',"status":"pending"'), 'an animal to change stock of', {
    status: 201,
  }),
  created: readPet(CREATED_PET, 'the first created animal', {
    status: 200,
    effect: {
      documented: true,
      isShown: (check) => check.status('created') === 200 || check.hasPassedSunset,
    },
    rules: [
      sunsetDay,
      ({ record }, check) => {
        const { id, status } = check.record('create') ?? {};
        return unlike(record, { id, status, ...check.get('create')?.sent });
      },
    ],
  }),
  inventoryCreated: listInventory('entries of created animals', {
    needs: CREATED_PET,
    status: 200,
    effect: {
      isShown: (check) =>
        (['create', 'createPending'] as const).every(
          (name) => check.record(name) === undefined || check.createdEntry(name)?.status === 'sold',
        ),
    },
  }),
  stock5: setStock('{"quantity":5}', 'quantity 5', { status: 200, rules: [asStocked] }),
  cancel: cancel('a pending order', {
    each: 'cancel',
    status: 204,
    excuse: ({ status, order }, check) =>
      status === 404 || (status === 409 && (!check.list('orders') || check.isDue(order))),
    rules: [
      ({ accepted, order }, check) => {
        const { before, after } = statusesOf(check, order);
        return accepted && after !== undefined && after === before && after !== 'cancelled'
          ? wrong('$', `order ${order} cancelled`, `its status ${describe(after)} as before`)
          : KEPT;
      },
    ],
  }),
  petAt5: readPet(STOCKED_PET, 'whether the animal follows', {
    status: 200,
    effect: follows('stock5', 'petAt5', 'available'),
  }),
  ordersCancelled: listOrders('', 'whether cancelled orders are listed', {
    needs: CANCELLED_ORDER,
    status: 200,
    effect: {
      isShown: (check) =>
        check.cancelled.every(({ order }) => {
          const { before, after, isListed } = statusesOf(check, order);
          return !isListed || after !== before;
        }),
    },
  }),
  inventoryCancelled: listInventory('whether cancelling restocks', {
    needs: CANCELLED_ORDER,
    status: 200,
    effect: {
      isShown: (check) =>
        check.restocks.every(({ before, after, ordered }) => after === before + ordered),
    },
  }),
  cancelAgain: cancel('an order that was cancelled just now', { needs: CANCELLED_ORDER }),
  stock0: setStock('{"quantity":0}', 'quantity 0', { status: 200, rules: [asStocked] }),
  petAt0: readPet(STOCKED_PET, 'whether the animal follows', {
    status: 200,
    effect: follows('stock0', 'petAt0', 'sold'),
  }),
  stock3: setStock('{"quantity":3}', 'quantity 3', { status: 200, rules: [asStocked] }),
  inventoryKept: listInventory('that the stock is kept', {
    needs: STOCKED_PET,
    status: 200,
    effect: {
      documented: true,
      isShown: (check) => !check.accepted('stock3') || keptEntry(check)?.quantity === 3,
    },
    rules: [
      ({ records }, check) => {
        if (!check.accepted('stock3') || records === undefined) return KEPT;
        const found = keptEntry(check);
        return found === undefined
          ? wrong('$', `an entry for animal ${check.id('createPending')}`, 'nothing')
          : unlike(found, check.get('stock3')?.sent, ['quantity'], '$[]');
      },
    ],
  }),
  stockNegative: setStock('{"quantity":-1}', 'a negative quantity'),
  stockText: setStock('{"quantity":"4"}', 'a quantity that is a string', {
    rules: [refuses('$.quantity')],
  }),
  stockNothing: setStock('{}', 'a missing quantity', { rules: [refuses('$.quantity')] }),
  stockNoKey: setStock('{"quantity":4}', 'a missing key', NO_KEY),
  createLongName: createPet(`{"name":"${LONG_NAME}","categoryId":1}`, 'a name of 256 characters'),
  createNoKey: createPet(animal('no key'), 'a missing key', { ...NO_KEY, rules: [] }),
  createWithId: createPet(animal('id', `,"id":${SENT_ID}`), 'a body with an id'),
  createUnknownField: createPet(
    animal('field', `,"${UNKNOWN_WORD}":1`),
    'a body with an unknown field',
  ),
  createUnseenStatus: createPet(
    animal('status', `,"status":"${UNKNOWN_WORD}"`),
    'a status never seen',
  ),
  createNoCategory: createPet(`{"name":"${ORIGIN}: no category"}`, 'a missing required field', {
    rules: [refuses('$.categoryId')],
  }),
  createAsText: createPet(animal('text/plain'), 'a body that is not declared as JSON', {
    headers: { 'Content-Type': 'text/plain' },
  }),
  createOver10kb: createPet(refusedBody(11 * 1024), 'a body of 11 KiB, wrong at any size', {
    rules: [],
  }),
  createOver1mb: createPet(refusedBody(1025 * 1024), 'a body of 1025 KiB, wrong at any size', {
    rules: [],
  }),
  createReadOnly: createPet(animal('read-only key'), 'a read-only key', { key: 'read-only' }),
  cancelUnknown: cancel('an order that does not exist', { needs: UNKNOWN_ORDER, status: 404 }),
  cancelNoKey: cancel('a missing key', { needs: UNKNOWN_ORDER, ...NO_KEY }),
  cancelShipped: cancel('a shipped order', { each: 'shipped', status: 409 }),
  cancelCancelled: cancel('a cancelled order', { each: 'cancelled' }),
  petsAgain: listPets('?limit=100', 'the order of the animals', {
    status: 200,
    effect: {
      documented: true,
      isShown: (check) => {
        const list = check.list('petsAgain') ?? [];
        // On a full page they can be missing.
        return list.length >= 100 || check.createdIds.every((id) => withId(list, id));
      },
    },
    rules: [
      // A list has a created animal, unless it may be on another page.
      ({ records }, check) => {
        const id = check.id('created');
        if (id === undefined || records === undefined || records.length >= LIMIT.maximum)
          return KEPT;
        return withId(records, id)
          ? KEPT
          : wrong('$', `animal ${id}, which was created`, 'nothing');
      },
    ],
  }),
  petsStill: listPets('?limit=100', 'the order of the animals, once more', { status: 200 }),
} as const satisfies Readonly<Record<string, CheckRequest>>;

const [LIMIT] = OPERATIONS.listPets.parameters;

/** The entry of the animal whose stock the check changes, at the end. */
function keptEntry(check: CheckTranscript) {
  return withId(check.list('inventoryKept'), check.id('createPending'), 'petId');
}
