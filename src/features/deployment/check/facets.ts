import { OPERATIONS } from '../../../core/contract/operations.ts';
import { ORDER_STATUSES, RECORDS } from '../../../core/contract/records.ts';
import { isObject } from '../../../core/json.ts';
import { findHeader } from '../../../core/raw-http.ts';
import {
  type DeploymentReply,
  findById,
  findNextQuery,
  parseBody,
  type ReplyRecord,
  readId,
  readIds,
} from '../deployment-reply.ts';
import {
  bodyForm,
  classify,
  compareFields,
  DATE_FORMS,
  describeNext,
  describeOrder,
  headerFacets,
  spelling,
  uniqueness,
  valueless,
} from './forms.ts';
import { type Probe, SENT_ID } from './probes.ts';

/** What a reply shows, by names in words: `status`, `order`, `entry NEW`. */
export type Facets = Readonly<Record<string, string>>;

type Found = Record<string, string | undefined>;

/** The lists of a deployment at the start of a round. */
export interface Lists {
  /** Whether all of them could be read. Otherwise no other list shows anything. */
  readonly isWhole: boolean;
  readonly animals: ReadonlyMap<bigint, ReplyRecord>;
  readonly inventory: readonly ReplyRecord[];
  readonly orders: readonly ReplyRecord[];
}

/** Animals without an id cannot be told apart. */
export function createLists(found: readonly (readonly ReplyRecord[] | undefined)[]): Lists {
  const [animals = [], inventory = [], orders = []] = found;
  const known = animals.flatMap((animal) => {
    const id = readId(animal);
    return id === undefined ? [] : [[id, animal] as const];
  });
  const isWhole = found.every((list) => list !== undefined);
  return { isWhole, animals: new Map(known), inventory, orders };
}

/** What a scene knows from its start and from earlier replies. */
export interface Memory {
  readonly lists: Lists;
  /** The time of its start, in milliseconds since 1970. */
  readonly clock: number;
  readonly words: Map<string, string>;
  /** The last id that was assigned, if it is known. */
  lastId: bigint | undefined;
  /** What was sent for the animal `NEW`. */
  created: ReplyRecord;
  /** A mock has an order of its own, and no other client. */
  readonly isMock: boolean;
  /** Whether the check itself writes to an entry. */
  isOwn(petId: bigint): boolean;
}

/** Reads what a reply shows, and remembers what later probes of the story need. */
export function readFacets(probe: Probe, reply: DeploymentReply, memory: Memory): Facets {
  const { status, body } = reply;
  const json = parseBody(body);
  const facets: Found = {
    status: `${status}`,
    body: bodyForm(reply, json),
    ...headerFacets(probe, reply),
  };
  if (status >= 400 && isObject(json)) facets.code = spelling(json.code);
  else if (Array.isArray(json) && memory.lists.isWhole) {
    Object.assign(facets, readList(json.filter(isObject), memory, probe, reply));
  } else if (isObject(json)) Object.assign(facets, readRecord(json, memory, probe));
  const shown = Object.entries(facets).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return Object.fromEntries(shown);
}

export function idOf(word: string, { words }: Pick<Memory, 'words'>): bigint | undefined {
  return readId({ id: words.get(word) });
}

function readList(
  records: readonly ReplyRecord[],
  memory: Memory,
  probe: Probe,
  reply: DeploymentReply,
): Found {
  const { lists } = memory;
  const { operation, path } = probe;
  if (operation === 'listPets') return readAnimals(records, memory, probe, reply);
  if (operation === 'listInventory') {
    const entries = ['NEW', 'STOCK', 'PET'].flatMap((word) => {
      const id = idOf(word, memory);
      const { quantity, status } = findById(records, id, 'petId') ?? {};
      const shown = quantity === undefined ? 'none' : `${quantity}, ${status}`;
      const isDoubtful = word === 'PET' && areOthersChanged(records, memory);
      return id === undefined ? [] : [[`entry of ${word}`, isDoubtful ? 'as others write' : shown]];
    });
    return { ids: uniqueness(readIds(records, 'petId')), ...Object.fromEntries(entries) };
  }
  const cancelled = idOf('CANCEL', memory);
  const isShown = records.some(({ status }) => status !== undefined);
  return {
    ids: uniqueness(readIds(records)),
    ...(path.endsWith('limit=1') &&
      lists.orders.length > 2 && { count: records.length === 1 ? '1' : 'all' }),
    ...(records.length > 0 && { 'status of orders': isShown ? 'shown' : 'hidden' }),
    // Of orders that are read again, other clients can have changed the status.
    ...(path.endsWith('orders') && !probe.isLate && { overdue: describeOverdue(records, memory) }),
    dates: classifyDates(records),
    ...valueless(records, RECORDS.Order),
    ...(cancelled !== undefined && {
      'cancelled order': findById(records, cancelled) ? 'listed' : 'not listed',
    }),
  };
}

/** Whether another client has written to the inventory, and so may have to the entry of any animal. */
function areOthersChanged(records: readonly ReplyRecord[], memory: Memory): boolean {
  if (memory.isMock) return false;
  const entries = new Map(records.map((entry) => [readId(entry, 'petId'), entry]));
  return memory.lists.inventory.some((before) => {
    const petId = readId(before, 'petId');
    const { quantity, status } = entries.get(petId) ?? {};
    const isChanged = quantity !== before.quantity || status !== before.status;
    return isChanged && petId !== undefined && !memory.isOwn(petId);
  });
}

/** Whether orders stay pending past their date; undefined if some do not say. */
function describeOverdue(orders: readonly ReplyRecord[], { clock }: Memory): string | undefined {
  const overdue = orders.filter(({ shipDate }) => Date.parse(String(shipDate)) < clock - DAY_MS);
  const statuses = overdue.map(({ status }) => ORDER_STATUSES.find((known) => known === status));
  if (statuses.includes(undefined)) return undefined;
  return statuses.includes('pending') ? 'pending' : 'not pending';
}

const DAY_MS = 24 * 60 * 60 * 1000;

function classifyDates(orders: readonly ReplyRecord[]): string | undefined {
  const dates = orders.flatMap(({ shipDate }) => (typeof shipDate === 'string' ? shipDate : []));
  const forms = new Set(dates.map((date) => classify(date, DATE_FORMS)));
  return forms.size === 0 ? undefined : [...forms].slice(0, 3).join(', ');
}

const MAX_PAGE = 100;

function readAnimals(
  records: readonly ReplyRecord[],
  memory: Memory,
  { path }: Probe,
  reply: DeploymentReply,
): Found {
  const { lists, words, isMock } = memory;
  const ids = readIds(records);
  const [first] = ids;
  const query = findNextQuery(reply);
  const isNext = /NEXT|offset/.test(path);
  const before = idOf('FIRST', memory);
  if (path.endsWith('limit=1')) {
    if (first !== undefined) words.set('FIRST', `${first}`);
    if (query !== undefined) words.set('NEXT', query);
  }
  // An animal that was not listed can be new.
  const isKnown = before !== undefined && first !== undefined && lists.animals.has(first);
  // Other clients may add some.
  const count = records.length >= lists.animals.size ? 'all' : `${records.length}`;
  return {
    ids: uniqueness(ids),
    ...(/status=/.test(path)
      ? { statuses: [...new Set(records.map(({ status }) => String(status)))].sort().join(', ') }
      : !isNext && { count }),
    // What follows the animals that are known is not.
    ...(records.length < MAX_PAGE && { next: query === undefined ? 'none' : describeNext(query) }),
    total: findHeader(reply.headers, 'x-total-count') === undefined ? 'none' : 'sent',
    order: describeOrder(records, ids, isMock ? [] : [...lists.animals.keys()]),
    ...(isKnown && { first: first === before ? 'the same' : 'another' }),
    // Which animals a short page has depends on their order.
    ...(isNext || /limit=\d$/.test(path) ? {} : valueless(records, RECORDS.Animal)),
  };
}

function readRecord(record: ReplyRecord, memory: Memory, { operation, path, sent }: Probe): Found {
  const status = String(record.status ?? 'absent');
  const absent = valueless([record], RECORDS.Animal);
  if (operation === 'updateInventory') {
    const { petId, quantity } = record;
    const isAddressed = readId(record, 'petId') === idOf(path.replace(/.*\//, ''), memory);
    return {
      petId: isAddressed ? 'as addressed' : String(petId),
      quantity: String(quantity),
      'status of entry': status,
    };
  }
  const id = readId(record);
  if (operation === 'createPet') {
    const assigned = describeId(id, memory.lastId);
    if (id !== undefined) {
      memory.lastId = id;
      memory.words.set('NEW', `${id}`);
      memory.created = sent;
    }
    return {
      id: assigned,
      fields: compareFields(record, sent, Object.keys(OPERATIONS.createPet.body.shape.members)),
      ...(sent.status === undefined && { 'status of animal': status }),
      ...absent,
    };
  }
  if (operation !== 'getPet' || id === undefined) return {};
  const known = id === idOf('NEW', memory) ? memory.created : memory.lists.animals.get(id);
  return {
    fields: compareFields(record, known ?? {}, ['name', 'categoryId']),
    // Other clients can move the status of older animals.
    ...(path.endsWith('LISTED') ? {} : { 'status of animal': status }),
    ...absent,
  };
}

/** Ids that are so far apart are drawn, not counted. */
const DRAWN_GAP = 1_000_000n;

const LARGEST_DOUBLE = 2n ** 53n;

/** Undefined for an id with a gap before it, which another client may have got. */
function describeId(id: bigint | undefined, last: bigint | undefined): string | undefined {
  if (id === SENT_ID) return 'as sent';
  if (id === undefined || last === undefined) return undefined;
  const gap = id - last;
  if (gap === 1n) return 'the next';
  return id > LARGEST_DOUBLE && (gap > DRAWN_GAP || gap < -DRAWN_GAP) ? 'beyond 2^53' : undefined;
}
