import { describe } from '../../../../core/words.ts';
import { findById, type ReplyRecord, readId, unless } from '../../deployment-reply.ts';
import { OTHER_CLIENT } from '../check-report.ts';
import type { CheckTranscript, ProbeReply } from '../check-transcript.ts';
import type { DocumentRule, Need, QuestionTable } from './question.ts';
import {
  accepted,
  askInventory,
  call,
  compareFields,
  NO_KEY,
  type QuestionMembers,
  readPet,
  refused,
  refuses,
  status,
  uniqueIds,
} from './question.ts';

const LAST_STOCK = 3;

const NEW_ENTRY = 'quantity 0 and status sold';

const STOCKED_PET: Need = {
  description: 'a created animal',
  after: 'createPending',
  find: (check) => check.get('createPending')?.id,
};

const asStocked: DocumentRule = ({ record, sent }, check) =>
  compareFields(record, { petId: check.get('createPending')?.id, ...sent });

const setStock = (body: string, why: string, more?: QuestionMembers) =>
  call('updateInventory', '', why, {
    body,
    needs: STOCKED_PET,
    excuse: ({ status }, check) => status === 404 && findNewEntry(check) === undefined,
    ...more,
  });
const STOCKED = { status: 200, rules: [asStocked] };

export const STOCK_QUESTIONS = {
  inventory: askInventory('the stock', { status: 200, rules: [uniqueIds('petId')] }),
  inventoryBefore: askInventory('the stock before an order is cancelled', {
    needs: {
      description: 'an order to cancel',
      after: 'cancel',
      find: (_, { cancel }) => cancel?.[0],
    },
    status: 200,
    settles: 'cancel-restocks',
    from: ['orders', 'inventoryBefore', 'inventoryAfter'],
    by: ['cancel'],
    obstacle: (check) =>
      listRestocks(check).some((restock, _, [first]) => restock === 'other' || restock !== first) &&
      `${OTHER_CLIENT} changes the stock`,
    values: listRestocks,
    nothing: 'no order was cancelled that has a petId, a quantity and an inventory entry',
  }),
  inventoryNoKey: askInventory('a missing key', NO_KEY),
  stock5: setStock('{"quantity":5}', 'quantity 5', {
    ...STOCKED,
    settles: 'inventory-missing-entry',
    from: ['inventoryAfter'],
    by: ['stock5'],
    obstacle: (check) =>
      findNewEntry(check) &&
      'every animal that the check creates gets an inventory entry, and it changes no other',
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
  inventoryAfter: askInventory('what became of the stock', {
    needs: {
      description: 'a created animal or a cancelled order',
      after: 'create',
      find: (check) => check.get('create')?.id ?? check.cancelled[0],
    },
    status: 200,
    isShown: isKept,
    isAffected: (check) =>
      findNewEntry(check)?.status === 'sold' &&
      listRestocks(check).every((restock) => restock === 'yes'),
    rules: [
      (reply, check) => {
        const found = describe(findStocked(reply, check)?.quantity);
        const expected = `${LAST_STOCK} for a created animal`;
        return unless(isKept(reply, check), '$[].quantity', expected, found);
      },
    ],
    settles: 'inventory-on-create',
    from: ['create', 'inventoryAfter'],
    values: (check) => {
      const entry = findNewEntry(check);
      return [entry ? `quantity ${entry.quantity} and status ${entry.status}` : 'nothing'];
    },
    options: { entry: RegExp(`^${NEW_ENTRY}$`), none: /^nothing$/ },
  }),
  petStocked: readPet(STOCKED_PET, 'whether the animal follows', {
    status: 200,
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

/** The entry of a created animal whose stock the check does not change. */
function findNewEntry(check: CheckTranscript): ReplyRecord | undefined {
  return findById(check.records('inventoryAfter'), check.get('create')?.id, 'petId');
}

function findStocked({ records }: ProbeReply, check: CheckTranscript): ReplyRecord | undefined {
  return findById(records, check.get('createPending')?.id, 'petId');
}

/** Whether a list has the last quantity that was set, if there is one. */
function isKept(read: ProbeReply, check: CheckTranscript): boolean {
  return !check.get('stock3')?.accepted || findStocked(read, check)?.quantity === LAST_STOCK;
}

function listRestocks(check: CheckTranscript): ('yes' | 'no' | 'other')[] {
  const orders = check.cancelled.map((id) => check.order(id));
  return orders.flatMap((order) => {
    const petId = readId(order, 'petId');
    const readQuantity = ({ records }: ProbeReply) => findById(records, petId, 'petId')?.quantity;
    const [before] = check.all('inventoryBefore').map(readQuantity);
    const after = check.attempts('inventoryAfter').map(readQuantity);
    const ordered = orders
      .filter((other) => readId(other, 'petId') === petId)
      .reduce((sum, { quantity } = {}) => sum + (typeof quantity === 'number' ? quantity : 0), 0);
    if (typeof before !== 'number' || ordered === 0) return [];
    if (after.includes(before + ordered)) return ['yes'];
    return [after.every((quantity) => quantity === before) ? 'no' : 'other'];
  });
}
