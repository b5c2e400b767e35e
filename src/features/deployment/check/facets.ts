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
import type { Facets, Scene, Step } from './scene.ts';

type Found = Record<string, string | undefined>;

/** Reads what replies show, and remembers what later probes of the story need. */
export function readReplies(
  scene: Scene,
  { at, probe }: Step,
  replies: readonly DeploymentReply[],
): void {
  const [first] = replies;
  if (first === undefined) throw new Error('A probe was sent no time.');
  scene.isAccepted = first.status < 300;
  scene.facets[at] = probe.times > 1 ? readBurst(replies) : readFacets(probe, first, scene);
}

/** How many requests of a burst pass before the first is refused. */
function readBurst(replies: readonly DeploymentReply[]): Facets {
  const refused = replies.findIndex(({ status }) => status === 429);
  return { status: '200', body: 'any', passed: `${refused === -1 ? replies.length : refused}` };
}

function readFacets(probe: Probe, reply: DeploymentReply, scene: Scene): Facets {
  const { status, body } = reply;
  const json = parseBody(body);
  const facets: Found = {
    status: `${status}`,
    body: bodyForm(reply, json),
    ...headerFacets(probe, reply),
  };
  if (status >= 400 && isObject(json)) facets.code = spelling(json.code);
  else if (Array.isArray(json) && scene.world.lists.isWhole) {
    Object.assign(facets, readList(json.filter(isObject), scene, probe, reply));
  } else if (isObject(json)) Object.assign(facets, readRecord(json, scene, probe));
  const shown = Object.entries(facets).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return Object.fromEntries(shown);
}

function readList(
  records: readonly ReplyRecord[],
  scene: Scene,
  probe: Probe,
  reply: DeploymentReply,
): Found {
  const { lists } = scene.world;
  const { operation, path } = probe;
  if (operation === 'listPets') return readAnimals(records, scene, probe, reply);
  if (operation === 'listInventory') {
    const entries = ['NEW', 'STOCK', 'PET'].flatMap((word) => {
      const id = scene.idOf(word);
      const { quantity, status } = findById(records, id, 'petId') ?? {};
      const shown = quantity === undefined ? 'none' : `${quantity}, ${status}`;
      const isDoubtful = word === 'PET' && areOthersChanged(records, scene);
      return id === undefined ? [] : [[`entry of ${word}`, isDoubtful ? 'as others write' : shown]];
    });
    return { ids: uniqueness(readIds(records, 'petId')), ...Object.fromEntries(entries) };
  }
  const cancelled = scene.idOf('CANCEL');
  const isShown = records.some(({ status }) => status !== undefined);
  return {
    ids: uniqueness(readIds(records)),
    ...(path.endsWith('limit=1') &&
      lists.orders.length > 2 && { count: records.length === 1 ? '1' : 'all' }),
    ...(records.length > 0 && { 'status of orders': isShown ? 'shown' : 'hidden' }),
    // Of orders that are read again, other clients can have changed the status.
    ...(path.endsWith('orders') && !probe.isLate && { overdue: describeOverdue(records, scene) }),
    dates: classifyDates(records),
    ...valueless(records, RECORDS.Order),
    ...(cancelled !== undefined && {
      'cancelled order': findById(records, cancelled) ? 'listed' : 'not listed',
    }),
  };
}

/** Whether another client has written to the inventory, and so may have to the entry of any animal. */
function areOthersChanged(records: readonly ReplyRecord[], scene: Scene): boolean {
  if (scene.isMock) return false;
  const entries = new Map(records.map((entry) => [readId(entry, 'petId'), entry]));
  return scene.world.lists.inventory.some((before) => {
    const petId = readId(before, 'petId');
    const { quantity, status } = entries.get(petId) ?? {};
    const isChanged = quantity !== before.quantity || status !== before.status;
    return isChanged && petId !== undefined && scene.world.store.inventory.get(petId) === undefined;
  });
}

/** Whether orders stay pending past their date; undefined if some do not say. */
function describeOverdue(orders: readonly ReplyRecord[], { world }: Scene): string | undefined {
  const overdue = orders.filter(
    ({ shipDate }) => Date.parse(String(shipDate)) < world.clock - DAY_MS,
  );
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
  scene: Scene,
  { path }: Probe,
  reply: DeploymentReply,
): Found {
  const { words, isMock } = scene;
  const { animals } = scene.world.lists;
  const ids = readIds(records);
  const [first] = ids;
  const query = findNextQuery(reply);
  const isNext = /NEXT|offset/.test(path);
  const before = scene.idOf('FIRST');
  if (path.endsWith('limit=1')) {
    if (first !== undefined) words.set('FIRST', `${first}`);
    if (query !== undefined) words.set('NEXT', query);
  }
  // An animal that was not listed can be new.
  const isKnown = before !== undefined && first !== undefined && animals.has(first);
  // Other clients may add some.
  const count = records.length >= animals.size ? 'all' : `${records.length}`;
  return {
    ids: uniqueness(ids),
    ...(/status=/.test(path)
      ? { statuses: [...new Set(records.map(({ status }) => String(status)))].sort().join(', ') }
      : !isNext && { count }),
    // What follows the animals that are known is not.
    ...(records.length < MAX_PAGE && { next: query === undefined ? 'none' : describeNext(query) }),
    total: findHeader(reply.headers, 'x-total-count') === undefined ? 'none' : 'sent',
    order: describeOrder(records, ids, isMock ? [] : [...animals.keys()]),
    ...(isKnown && { first: first === before ? 'the same' : 'another' }),
    // Which animals a short page has depends on their order.
    ...(isNext || /limit=\d$/.test(path) ? {} : valueless(records, RECORDS.Animal)),
  };
}

function readRecord(record: ReplyRecord, scene: Scene, { operation, path, sent }: Probe): Found {
  const status = String(record.status ?? 'absent');
  const absent = valueless([record], RECORDS.Animal);
  if (operation === 'updateInventory') {
    const { petId, quantity } = record;
    const isAddressed = readId(record, 'petId') === scene.idOf(path.replace(/.*\//, ''));
    return {
      petId: isAddressed ? 'as addressed' : String(petId),
      quantity: String(quantity),
      'status of entry': status,
    };
  }
  const id = readId(record);
  if (operation === 'createPet') {
    const assigned = describeId(id, scene.lastId);
    if (id !== undefined) {
      scene.lastId = id;
      scene.words.set('NEW', `${id}`);
      scene.created = sent;
    }
    return {
      id: assigned,
      fields: compareFields(record, sent, Object.keys(OPERATIONS.createPet.body.shape.members)),
      ...(sent.status === undefined && { 'status of animal': status }),
      ...absent,
    };
  }
  if (operation !== 'getPet' || id === undefined) return {};
  const known = id === scene.idOf('NEW') ? scene.created : scene.world.lists.animals.get(id);
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
