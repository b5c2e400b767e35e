import { describe } from '../../words.ts';
import { UNKNOWN_WORD, withId } from '../deployment-reply.ts';
import type {
  CheckRequest,
  CheckTranscript,
  DocumentRule,
  Effect,
  Need,
  RequestName,
} from './check-transcript.ts';
import {
  call,
  LONGEST_PAGE,
  listInventory,
  listOrders,
  listPets,
  NO_KEY,
  readPet,
  SENT_ID,
  sunsetDay,
  UNKNOWN_ORDER,
  unless,
  unlike,
} from './read-requests.ts';

type More = Partial<CheckRequest>;

const createdBy = (after: 'create' | 'createPending'): Need => ({
  description: 'a created animal',
  after,
  find: (check) => check.get(after)?.id,
});

const CREATED_PET = createdBy('create');
/** The created animal whose stock the check changes. */
const STOCKED_PET = createdBy('createPending');

const CANCELLED_ORDER: Need = {
  description: 'an order that was cancelled',
  after: 'cancel',
  find: (check) => check.cancelled[0],
};

/** The reply to a creation has what was sent. */
const asSent: DocumentRule = ({ record, sent }) =>
  unlike(
    record,
    sent,
    ['name', 'categoryId', 'status'].filter((field) => Object.hasOwn(sent, field)),
  );

const asStocked: DocumentRule = ({ record, sent }, check) =>
  unlike(record, { petId: check.get('createPending')?.id, ...sent });

/** A body without a required field, or with one of another type, is not accepted. */
function refuses(field: string): DocumentRule {
  return ({ accepted, status, sending }) => {
    const found = `${status} for ${sending.definition.why}`;
    return unless(!accepted, `$.${field}`, 'a refusal', found, 'field');
  };
}

const documented = (isShown: Effect['isShown']): Effect => ({ documented: true, isShown });

/** An animal that may follow its stock has this status after a write. */
function follows(write: RequestName, read: RequestName, status: string): More {
  const isShown = (check: CheckTranscript): boolean => {
    const record = check.get(read)?.record;
    if (record === undefined) return check.hasPassedSunset;
    return !check.get(write)?.accepted || record.status === status;
  };
  return { status: 200, effect: { isShown } };
}

/** Every animal that a check creates has a name that starts with this. */
const ORIGIN = 'petstore-mock check';

const animal = (name: string, more = '') => `{"name":"${ORIGIN}: ${name}","categoryId":1${more}}`;

/** An int64 that a double cannot hold. */
const LARGE_CATEGORY = 2n ** 53n + 1n;

/** One character more than `name-limits: 255` allows. */
const LONG_NAME = `${ORIGIN}: `.padEnd(256, 'x');

const createPet = (body: string, why: string, more?: More) =>
  call('createPet', '', why, { body, rules: [asSent], ...more });
/** A body that is refused whatever its size, so that it creates nothing. */
const createOver = (kib: number) =>
  createPet('{}'.padEnd((kib + 1) * 1024), `a body of ${kib + 1} KiB, wrong at any size`);
const setStock = (body: string, why: string, more?: More) =>
  call('updateInventory', '', why, {
    body,
    needs: STOCKED_PET,
    excuse: ({ status }, check) =>
      status === 404 && check.createdEntry('createPending') === undefined,
    ...more,
  });
const STOCKED = { status: 200, rules: [asStocked] };
const cancel = (why: string, more?: More) => call('cancelOrder', '', why, more);

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
    effect: documented((check) => check.get('created')?.status === 200 || check.hasPassedSunset),
    rules: [
      sunsetDay,
      ({ record }, check) => {
        const created = check.get('create');
        const { id, status } = created?.record ?? {};
        return unlike(record, { id, status, ...created?.sent });
      },
    ],
  }),
  inventoryCreated: listInventory('entries of created animals', {
    needs: CREATED_PET,
    status: 200,
    effect: {
      isShown: (check) =>
        (['create', 'createPending'] as const).every(
          (name) => !check.get(name)?.record || check.createdEntry(name)?.status === 'sold',
        ),
    },
  }),
  stock5: setStock('{"quantity":5}', 'quantity 5', STOCKED),
  cancel: cancel('a pending order', {
    each: 'cancel',
    status: 204,
    excuse: ({ status, sending: { order } }, check) =>
      status === 404 || (status === 409 && (!check.get('orders')?.records || check.isDue(order))),
  }),
  petAt5: readPet(
    STOCKED_PET,
    'whether the animal follows',
    follows('stock5', 'petAt5', 'available'),
  ),
  ordersCancelled: listOrders('', 'whether cancelled orders are listed', {
    needs: CANCELLED_ORDER,
    status: 200,
    effect: {
      isShown: (check) =>
        check.cancelled.every((id) => {
          const after = withId(check.get('ordersCancelled')?.records, id);
          return after === undefined || after.status !== check.order(id)?.status;
        }),
    },
  }),
  inventoryCancelled: listInventory('whether cancelling restocks', {
    needs: CANCELLED_ORDER,
    status: 200,
    effect: { isShown: (check) => check.restocks.every(({ ordered, added }) => ordered === added) },
  }),
  cancelAgain: cancel('an order that was cancelled just now', { needs: CANCELLED_ORDER }),
  stock0: setStock('{"quantity":0}', 'quantity 0', STOCKED),
  petAt0: readPet(STOCKED_PET, 'whether the animal follows', follows('stock0', 'petAt0', 'sold')),
  stock3: setStock('{"quantity":3}', 'quantity 3', STOCKED),
  inventoryKept: listInventory('that the stock is kept', {
    needs: STOCKED_PET,
    status: 200,
    effect: documented(
      (check) => !check.get('stock3')?.accepted || keptEntry(check)?.quantity === 3,
    ),
    rules: [
      (_, check) => {
        const found = keptEntry(check)?.quantity;
        const holds = !check.get('stock3')?.accepted || found === 3;
        return unless(holds, '$[].quantity', '3 for a created animal', describe(found));
      },
    ],
  }),
  stockNegative: setStock('{"quantity":-1}', 'a negative quantity'),
  stockText: setStock('{"quantity":"4"}', 'a quantity that is a string', {
    rules: [refuses('quantity')],
  }),
  stockNothing: setStock('{}', 'a missing quantity', { rules: [refuses('quantity')] }),
  stockNoKey: setStock('{"quantity":4}', 'a missing key', NO_KEY),
  createLongName: createPet(`{"name":"${LONG_NAME}","categoryId":1}`, 'a name of 256 characters'),
  createNoKey: createPet(animal('no key'), 'a missing key', NO_KEY),
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
    rules: [refuses('categoryId')],
  }),
  createAsText: createPet(animal('text/plain'), 'a body that is not declared as JSON', {
    headers: { 'Content-Type': 'text/plain' },
  }),
  createOver10kb: createOver(10),
  createOver1mb: createOver(1024),
  createReadOnly: createPet(animal('read-only key'), 'a read-only key', {
    key: 'read-only',
    needs: CREATED_PET,
  }),
  cancelUnknown: cancel('an order that does not exist', { needs: UNKNOWN_ORDER, status: 404 }),
  cancelNoKey: cancel('a missing key', { needs: UNKNOWN_ORDER, ...NO_KEY }),
  cancelShipped: cancel('a shipped order', { each: 'shipped', status: 409 }),
  cancelCancelled: cancel('a cancelled order', { each: 'cancelled' }),
  petsAgain: listPets('?limit=100', 'the order of the animals', {
    status: 200,
    effect: documented(
      (check) => isFull(check) || check.createdIds.every((id) => isListed(check, id)),
    ),
    rules: [
      (_, check) => {
        const id = check.get('created')?.id;
        const holds = id === undefined || isFull(check) || isListed(check, id);
        return unless(holds, '$', `animal ${id}, which was created`, 'nothing');
      },
    ],
  }),
} as const satisfies Readonly<Record<string, CheckRequest>>;

/** The entry of the animal whose stock the check changes, at the end. */
function keptEntry(check: CheckTranscript) {
  return withId(check.get('inventoryKept')?.records, check.get('createPending')?.id, 'petId');
}

/** Whether created animals may be on another page. */
function isFull(check: CheckTranscript): boolean {
  return (check.get('petsAgain')?.records?.length ?? 0) >= LONGEST_PAGE;
}

function isListed(check: CheckTranscript, id: bigint): boolean {
  return withId(check.get('petsAgain')?.records, id) !== undefined;
}
