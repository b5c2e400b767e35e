import { describe } from '../../words.ts';
import { idsOf, type JsonRecord, withId } from '../deployment-reply.ts';
import type { CheckTranscript } from './check-transcript.ts';
import { CREATED_PET } from './creation-questions.ts';
import type { DocumentRule, Need, QuestionTable } from './question.ts';
import type { QuestionName } from './question-names.ts';
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
  unless,
  unlike,
} from './question-rows.ts';

/** The created animal whose stock the check changes. */
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
    excuse: ({ status }, check) =>
      status === 404 && createdEntry(check, 'createPending') === undefined,
    ...more,
  });
const STOCKED = { status: 200, rules: [asStocked] };

/** @param status of an animal that follows its stock, after a write */
const readStocked = (write: QuestionName, read: QuestionName, status: string, more?: More) =>
  readPet(STOCKED_PET, 'whether the animal follows', {
    status: 200,
    isShown: (check) => {
      const record = check.get(read)?.record;
      if (record === undefined) return check.hasPassedSunset;
      return !check.get(write)?.accepted || record.status === status;
    },
    ...more,
  });

/** What a check asks about the inventory. */
export const STOCK_QUESTIONS = {
  inventory: listInventory('the stock', { status: 200, rules: [uniqueIds('petId')] }),
  inventoryNoKey: listInventory('a missing key', NO_KEY),
  inventoryCreated: listInventory('entries of created animals', {
    needs: CREATED_PET,
    status: 200,
    isShown: (check) =>
      (['create', 'createPending'] as const).every(
        (name) => !check.get(name)?.record || createdEntry(check, name)?.status === 'sold',
      ),
    settles: 'inventory-on-create',
    from: ['create', 'inventoryCreated'],
    also: ['inventoryKept'],
    obstacle: noInventory,
    values: (check) => {
      const entry = createdEntry(check, 'create');
      return [entry ? `quantity ${entry.quantity} and status ${entry.status}` : 'nothing'];
    },
    options: { entry: /^quantity 0 and status sold$/, none: /^nothing$/ },
  }),
  stock5: setStock('{"quantity":5}', 'quantity 5', {
    ...STOCKED,
    settles: 'inventory-missing-entry',
    from: ['inventoryCreated'],
    by: ['stock5'],
    also: ['inventoryKept'],
    obstacle: (check) =>
      noInventory(check) ||
      (createdEntry(check, 'createPending') !== undefined &&
        'every animal that the check creates gets an inventory entry, and it changes no other'),
    options: { 404: status(404), create: accepted },
  }),
  petAt5: readStocked('stock5', 'petAt5', 'available'),
  stock0: setStock('{"quantity":0}', 'quantity 0', STOCKED),
  petAt0: readStocked('stock0', 'petAt0', 'sold', {
    settles: 'animal-follows-stock',
    from: ['stock5', 'petAt5', 'stock0', 'petAt0'],
    values: (check) => [statusesIn(check, 'petAt5', 'petAt0')],
    options: { no: /^pending, pending$/, yes: /^available, sold$/ },
  }),
  stock3: setStock('{"quantity":3}', 'quantity 3', {
    ...STOCKED,
    settles: 'inventory-status',
    from: ['stock5', 'stock0', 'stock3'],
    values: (check) => [statusesIn(check, 'stock5', 'stock0', 'stock3')],
    options: {
      unchanged: /^(.+), \1, \1$/,
      'follows-quantity': /^available, sold, available$/,
    },
  }),
  inventoryKept: listInventory('that the stock is kept', {
    needs: STOCKED_PET,
    status: 200,
    isPromised: true,
    isShown: isKept,
    rules: [
      (_, check) => {
        const found = describe(keptEntry(check)?.quantity);
        return unless(isKept(check), '$[].quantity', '3 for a created animal', found);
      },
    ],
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

/** The entry of a created animal, before its stock changed. */
function createdEntry(
  check: CheckTranscript,
  created: 'create' | 'createPending',
): JsonRecord | undefined {
  return withId(check.get('inventoryCreated')?.records, check.get(created)?.id, 'petId');
}

/** The entry of the animal whose stock the check changes, at the end. */
function keptEntry(check: CheckTranscript): JsonRecord | undefined {
  return withId(check.get('inventoryKept')?.records, check.get('createPending')?.id, 'petId');
}

/** Whether the last quantity that was set is listed, if there is one. */
function isKept(check: CheckTranscript): boolean {
  return !check.get('stock3')?.accepted || keptEntry(check)?.quantity === 3;
}

function noInventory(check: CheckTranscript): string | false | undefined {
  const entries = check.get('inventoryCreated')?.records ?? [];
  if (idsOf(entries, 'petId').length < entries.length) return 'GET /inventory lists no petIds';
  const isMissing = check.get('inventoryKept')?.records && keptEntry(check) === undefined;
  return check.get('stock3')?.accepted && isMissing && 'GET /inventory leaves out entries';
}

function statusesIn(check: CheckTranscript, ...names: readonly QuestionName[]): string {
  return names.map((name) => check.get(name)?.record?.status).join(', ');
}
