import { describe } from '../../../words.ts';
import { findById, type JsonRecord, readId, readIds, unless } from '../../deployment-reply.ts';
import type { CheckTranscript, ProbeReply } from '../check-transcript.ts';
import { OTHER_CLIENT } from '../verdict-shapes.ts';
import { CREATIONS } from './creations.ts';
import type { DocumentRule, Need, QuestionTable } from './question.ts';
import {
  accepted,
  call,
  listInventory,
  type More,
  NO_KEY,
  readPet,
  refused,
  refuses,
  status,
  uniqueIds,
  unlike,
} from './question.ts';

const LAST_STOCK = 3;

/** For how long after a cancellation the stock tells what it did, where other clients change stock. */
const MAX_BUSY_MS = 5000;

const NEW_ENTRY = 'quantity 0 and status sold';

const STOCKED_PET: Need = {
  description: 'a created animal',
  after: 'createPending',
  find: (check) => check.get('createPending')?.id,
};

const asStocked: DocumentRule = ({ record, sent }, check) =>
  unlike(record, { petId: check.get('createPending')?.id, ...sent });

const setStock = (body: string, why: string, more?: More) =>
  call('updateInventory', '', why, {
    body,
    needs: STOCKED_PET,
    excuse: ({ status }, check) => status === 404 && !hasCreatedEntries(check),
    ...more,
  });
const STOCKED = { status: 200, rules: [asStocked] };

export const STOCK_QUESTIONS = {
  inventory: listInventory('the stock', { status: 200, rules: [uniqueIds('petId')] }),
  inventoryBefore: listInventory('the stock before an order is cancelled', {
    needs: {
      description: 'an order to cancel',
      after: 'cancel',
      find: (_, { cancel }) => cancel?.[0],
    },
    status: 200,
    settles: 'cancel-restocks',
    from: ['orders', 'inventoryAfter'],
    by: ['cancel'],
    obstacle: explainUnclearStock,
    values: (check) => listRestocks(check).filter((restock) => restock !== undefined),
    nothing: 'no order was cancelled that has a petId, a quantity and an inventory entry',
  }),
  inventoryNoKey: listInventory('a missing key', NO_KEY),
  stock5: setStock('{"quantity":5}', 'quantity 5', {
    ...STOCKED,
    settles: 'inventory-missing-entry',
    from: ['inventoryAfter'],
    by: ['stock5'],
    obstacle: (check) =>
      findListFault(check) ||
      (hasCreatedEntries(check) &&
        'every animal that the check creates gets an inventory entry, and it changes no other'),
    options: { 404: status(404), create: accepted },
  }),
  stock0: setStock('{"quantity":0}', 'quantity 0', STOCKED),
  stock3: setStock(`{"quantity":${LAST_STOCK}}`, `quantity ${LAST_STOCK}`, {
    ...STOCKED,
    settles: 'inventory-status',
    from: ['stock5', 'stock0', 'stock3'],
    values: (check) => [
      check
        .all('stock5', 'stock0', 'stock3')
        .map(({ record }) => record?.status)
        .join(', '),
    ],
    options: {
      unchanged: /^(.+), \1, \1$/,
      'follows-quantity': /^available, sold, available$/,
    },
  }),
  inventoryAfter: listInventory('what became of the stock', {
    needs: {
      description: 'a created animal or a cancelled order',
      after: 'create',
      find: (check) => check.get('create')?.id ?? check.cancelled[0],
    },
    status: 200,
    repeats: 'stock3',
    isShown: isKept,
    isAffected: (check) =>
      createdEntries(check).every((entry) => entry?.status === 'sold') &&
      listRestocks(check).every((restock) => restock === 'yes'),
    rules: [
      (reply, check) => {
        const holds = check.attempts('inventoryAfter').some((read) => isKept(read, check));
        const found = describe(stockedEntry(reply, check)?.quantity);
        const expected = `${LAST_STOCK} for a created animal`;
        return unless(holds, '$[].quantity', expected, found);
      },
    ],
    settles: 'inventory-on-create',
    from: ['create', 'inventoryAfter'],
    obstacle: (check) =>
      findListFault(check) ||
      (describeEntries(check).length === 0 && `${OTHER_CLIENT} changed the entries of new animals`),
    values: describeEntries,
    options: { entry: RegExp(`^${NEW_ENTRY}$`), none: /^nothing$/ },
  }),
  petStocked: readPet(STOCKED_PET, 'whether the animal follows', {
    status: 200,
    repeats: 'stock3',
    isAffected: (check) => {
      const record = check.get('petStocked')?.record;
      if (record === undefined) return check.hasPassedSunset;
      return !check.get('stock3')?.accepted || record.status === 'available';
    },
    settles: 'animal-follows-stock',
    from: ['stock3', 'petStocked'],
    values: (check) => [String(check.get('petStocked')?.record?.status)],
    options: { no: /^pending$/, yes: /^(?:available|sold)$/ },
  }),
  stockNegative: setStock('{"quantity":-1}', 'a negative quantity', {
    settles: 'negative-quantity',
    obstacle: (check) =>
      check.get('stockNegative')?.status === 404 &&
      'no animal that the check creates has an inventory entry',
    options: { reject: refused, accept: ({ record }) => record?.quantity === -1 },
  }),
  stockText: setStock('{"quantity":"4"}', 'a quantity that is a string', {
    rules: refuses('quantity'),
  }),
  stockNothing: setStock('{}', 'a missing quantity', { rules: refuses('quantity') }),
  stockNoKey: setStock('{"quantity":4}', 'a missing key', NO_KEY),
} as const satisfies QuestionTable;

/** The entries of the created animals whose stock the check does not change, in the last inventory. */
function createdEntries(check: CheckTranscript): (JsonRecord | undefined)[] {
  const { records, sentAt } = readsAfter(check).at(-1) ?? { sentAt: 0 };
  return check
    .all(...CREATIONS)
    .filter(({ name, id, receivedAt }) => name !== 'createPending' && id && receivedAt < sentAt)
    .map(({ id }) => findById(records, id, 'petId'));
}

function hasCreatedEntries(check: CheckTranscript): boolean {
  const entries = createdEntries(check);
  return entries.length > 0 && !entries.includes(undefined);
}

/** What entry new animals have. Another client may have changed one, but not two in the same way. */
function describeEntries(check: CheckTranscript): string[] {
  const found = createdEntries(check).map((entry) =>
    entry ? `quantity ${entry.quantity} and status ${entry.status}` : 'nothing',
  );
  const plain = ['nothing', NEW_ENTRY].find((text) => found.includes(text));
  const common = plain ?? found.find((text, at) => found.indexOf(text) !== at);
  return common === undefined ? [] : [common];
}

/** The inventory after the writes: the first that shows the last of them, and the last. */
function readsAfter(check: CheckTranscript): ProbeReply[] {
  const reads = check.attempts('inventoryAfter').filter(({ records }) => records !== undefined);
  const shown = reads.find((read) => stockedEntry(read, check)?.quantity === LAST_STOCK);
  return [...new Set([shown, reads.at(-1)])].filter((read) => read !== undefined);
}

function stockedEntry({ records }: ProbeReply, check: CheckTranscript): JsonRecord | undefined {
  return findById(records, check.get('createPending')?.id, 'petId');
}

/** Whether a list has the last quantity that was set, if there is one. */
function isKept(read: ProbeReply, check: CheckTranscript): boolean {
  return !check.get('stock3')?.accepted || stockedEntry(read, check)?.quantity === LAST_STOCK;
}

function findListFault(check: CheckTranscript): string | false | undefined {
  const after = check.get('inventoryAfter');
  const entries = after?.records ?? [];
  if (readIds(entries, 'petId').length < entries.length) return 'GET /inventory lists no petIds';
  const isMissing = after?.records && stockedEntry(after, check) === undefined;
  return check.get('stock3')?.accepted && isMissing && 'GET /inventory leaves out entries';
}

/** Whether cancelling orders returned the stock of their animals; undefined where another client changed it. */
function listRestocks(check: CheckTranscript): ('yes' | 'no' | undefined)[] {
  const cancelled = check.cancelled.map((id) => check.order(id));
  return cancelled.flatMap((order) => {
    const petId = readId(order, 'petId');
    const readQuantity = ({ records }: ProbeReply) => findById(records, petId, 'petId')?.quantity;
    const ordered = cancelled
      .filter((other) => readId(other, 'petId') === petId)
      .reduce((sum, { quantity } = {}) => sum + (typeof quantity === 'number' ? quantity : 0), 0);
    const [before, ...others] = check.all('inventory', 'inventoryBefore').map(readQuantity);
    const [after, last = after] = readsAfter(check).map(readQuantity);
    if (typeof before !== 'number' || typeof after !== 'number' || ordered === 0) return [];
    if (others.some((quantity) => quantity !== before)) return [undefined];
    if (after === before + ordered) return ['yes'];
    return [after === before && last !== before + ordered ? 'no' : undefined];
  });
}

function isBusy(check: CheckTranscript): boolean {
  const own = check.cancelled.map((order) => readId(check.order(order), 'petId'));
  const after = readQuantities(check.get('inventoryAfter'));
  return [...readQuantities(check.get('inventory'))].some(
    ([id, quantity]) => id !== undefined && !own.includes(id) && after.get(id) !== quantity,
  );
}

function readQuantities(reply: ProbeReply | undefined): Map<bigint | undefined, unknown> {
  const entries = reply?.records ?? [];
  return new Map(entries.map((entry) => [readId(entry, 'petId'), entry.quantity]));
}

/** Why the stock may not tell what cancelling orders did to it, if so. */
function explainUnclearStock(check: CheckTranscript): string | false | undefined {
  const restocks = listRestocks(check);
  if (restocks.length === 0) return check.rival;
  const found = new Set(restocks.filter((restock) => restock !== undefined));
  // Where an order can be cancelled again with 204, the first may not have been the first.
  const isFirst = !check.get('cancelAgain')?.accepted || found.has('yes');
  const [after, cancelled] = [readsAfter(check)[0], check.get('cancel')];
  const isLate = (after?.sentAt ?? 0) - (cancelled?.receivedAt ?? 0) > MAX_BUSY_MS;
  return (
    (found.size !== 1 || ((isLate || !isFirst) && isBusy(check))) &&
    `${OTHER_CLIENT} changes the stock, or may have cancelled the orders before`
  );
}
