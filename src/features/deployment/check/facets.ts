import { DAY_MS } from '../../../core/contract/date-time.ts';
import {
  OPERATION_IDS,
  type OperationId,
  operationShape,
} from '../../../core/contract/operations.ts';
import { ORDER_STATUSES, RECORDS } from '../../../core/contract/records.ts';
import { isObject } from '../../../core/json.ts';
import { findHeader } from '../../../core/raw-http.ts';
import type { ObjectShape } from '../../../core/shape/objects.ts';
import {
  type DeploymentReply,
  findById,
  findNextQuery,
  type ReplyRecord,
  readId,
} from '../deployment-reply.ts';
import { classify, DATE_FORMS, describeOrder, SPELLINGS } from './forms.ts';
import { CHECK_NAME, SENT_ID } from './probes.ts';
import { PROMISES } from './promises.ts';
import {
  type FacetReader,
  type FacetReaders,
  type Facets,
  isNextPage,
  MAX_PAGE,
  type ProbeExchange,
  type SequenceRun,
  stockOf,
} from './sequence-run.ts';

/** Begins the reason of a verdict that is open because other clients write. */
export const OTHER_CLIENT = 'another client';

/** Stores in a run the facets of a probe's reply, or of all replies to a burst. */
export function noteReplies(run: SequenceRun, replies: readonly ProbeExchange[]): void {
  const [first] = replies;
  if (first === undefined) throw new Error('A probe was sent no time.');
  const { at, probe } = first;
  run.exchanges[at] = first;
  const refused = replies.findIndex(({ reply }) => reply.status === 429);
  run.facets[at] =
    probe.times === 1
      ? readFacets(first, run)
      : { status: '200', body: 'any', passed: `${refused === -1 ? replies.length : refused}` };
}

function readFacets(exchange: ProbeExchange, run: SequenceRun): Facets {
  const { isRead, json, probe } = exchange;
  const isKnown = isRead && (run.model.lists.isWhole || !Array.isArray(json));
  const facets: Record<string, string> = {};
  for (const [name, read] of READERS.get(isKnown ? probe.operation : undefined) ?? []) {
    const value = read(exchange, run);
    if (value !== undefined) facets[name] = value;
  }
  if (isKnown) rememberForLater(exchange, run);
  return facets;
}

/** Stores placeholders for later probes of the run, and whether another client writes. */
function rememberForLater({ reply, records, ids: [id], probe }: ProbeExchange, run: SequenceRun) {
  const { placeholders, model } = run;
  const { animals, hasAllAnimals } = model.lists;
  const isNew = (animal: ReplyRecord) =>
    !animals.has(readId(animal) ?? 0n) && !String(animal.name).startsWith(CHECK_NAME);
  if (probe.operation === 'listPets' && !run.isMock && hasAllAnimals)
    model.hasOtherWriters ||= records.some(isNew);
  if (id === undefined) return;
  if (probe.operation === 'createPet') {
    run.lastId = id;
    placeholders.set('NEW', `${id}`);
  }
  if (probe.operation !== 'listPets' || !probe.path.endsWith('limit=1')) return;
  const query = findNextQuery(reply);
  placeholders.set('FIRST', `${id}`);
  if (query !== undefined) placeholders.set('NEXT', query);
}

const OF_ANY: FacetReaders = {
  status: ({ reply }) => `${reply.status}`,
  body: ({ reply, json }) => bodyForm(reply, json),
  charset: ({ reply: { headers } }) => {
    const type = findHeader(headers, 'content-type') ?? '';
    if (!/^application\/(?:\w+\+)?json\b/i.test(type)) return undefined;
    return /;\s*charset="?([\w-]+)/i.exec(type)?.[1]?.toLowerCase() ?? 'none';
  },
  challenge: ({ reply: { status, headers } }) => {
    if (status !== 401) return undefined;
    return findHeader(headers, 'www-authenticate')?.split(' ')[0]?.toLowerCase() ?? 'none';
  },
  Allow: ({ reply }) => (reply.status === 405 ? sentOrNone(reply, 'allow') : undefined),
  announces: ({ reply: { status, headers }, probe }) => {
    if (probe.operation !== 'getPet' || (status >= 300 && status !== 410)) return undefined;
    const sent = ['deprecation', 'sunset', 'link'].filter((name) => findHeader(headers, name));
    return sent.join(', ') || 'nothing';
  },
  CORS: ({ reply: { headers }, probe: { headers: sent } }) => {
    const { Origin, origin = Origin } = sent;
    if (origin === undefined) return undefined;
    const allowed = findHeader(headers, 'access-control-allow-origin') ?? 'none';
    return allowed === '*' || allowed === origin ? 'allowed' : allowed;
  },
  code: ({ reply: { status }, json }) => {
    const code = status >= 400 && isObject(json) ? json.code : undefined;
    // A single lower-case word fits both snake_case and kebab-case.
    return typeof code !== 'string' || /^[a-z]+$/.test(code)
      ? undefined
      : classify(code, SPELLINGS);
  },
};

/** How optional fields without a value are written: left out or null. */
const ABSENT_FIELDS: FacetReader = ({ probe: { operation, path }, records }) => {
  const [accepted] =
    operation === undefined ? [] : Object.values(operationShape(operation).replies);
  const record = accepted?.body?.record;
  // A short page may have other animals than the mock's, depending on the order.
  if (record === undefined || isNextPage(path) || /limit=\d$/.test(path)) return undefined;
  const { members }: ObjectShape = RECORDS[record];
  const names = Object.keys(members).filter((name) => members[name]?.required === false);
  const values = records.flatMap((each) => names.map((name) => each[name]));
  const [isNull, isLeftOut] = [values.includes(null), values.includes(undefined)];
  if (!isNull) return isLeftOut ? 'left out' : undefined;
  return isLeftOut ? 'both' : 'null';
};

/** The status of one record, unless it was sent or others can change it (an older animal). */
const STATUS: FacetReader = ({ probe, records: [record] }) =>
  probe.sent.status === undefined && !probe.path.endsWith('LISTED')
    ? String(record?.status ?? 'absent')
    : undefined;

const stockStatusOf =
  (placeholder: string): FacetReader =>
  ({ records }, run) => {
    const entry = findById(records, run.idOf(placeholder), 'petId');
    return entry && String(entry.status);
  };

const OF: Readonly<Partial<Record<OperationId, FacetReaders>>> = {
  listPets: {
    next: ({ reply, records: { length } }) => {
      if (length >= MAX_PAGE) return undefined; // The model does not know the next animals.
      const query = findNextQuery(reply) ?? 'none';
      return /[?&]cursor=/.test(query) ? 'cursor' : query.replaceAll(/=[^&]*/g, '');
    },
    total: ({ reply }) => sentOrNone(reply, 'x-total-count'),
    order: ({ records, ids }, { isMock, model }) =>
      describeOrder(records, ids, isMock ? [] : [...model.lists.animals.keys()]),
    first: ({ ids: [first] }, run) => {
      const before = run.idOf('FIRST');
      // An animal that was not listed may be new.
      if (before === undefined || !run.model.lists.animals.has(first ?? -1n)) return undefined;
      return first === before ? 'the same' : 'another';
    },
    'absent fields': ABSENT_FIELDS,
  },
  listInventory: {
    'stock of STOCK': stockOf('STOCK'),
    'status of stock of NEW': stockStatusOf('NEW'),
    'status of stock of STOCK': stockStatusOf('STOCK'),
    'entry of PET': describeCancelled,
  },
  listOrders: {
    'status of orders': ({ records }) => {
      if (records.length === 0) return undefined;
      return records.some(({ status }) => status !== undefined) ? 'shown' : 'hidden';
    },
    overdue: describeOverdue,
    dates: ({ records }) => {
      const dates = records.flatMap(({ shipDate }) =>
        typeof shipDate === 'string' ? classify(shipDate, DATE_FORMS) : [],
      );
      return [...new Set(dates)].slice(0, 3).join(', ') || undefined;
    },
    'absent fields': ABSENT_FIELDS,
    'cancelled order': ({ ids }, run) => {
      const id = run.idOf('CANCEL');
      if (id === undefined) return undefined;
      return ids.includes(id) ? 'listed' : 'not listed';
    },
  },
  createPet: { id: describeId, 'status of animal': STATUS, 'absent fields': ABSENT_FIELDS },
  getPet: { 'status of animal': STATUS, 'absent fields': ABSENT_FIELDS },
  updateInventory: { 'status of entry': STATUS },
};

/** The facets to read for each operation. Those under undefined apply to any reply. */
const READERS = new Map(
  [undefined, ...OPERATION_IDS].map((id) => {
    return [id, Object.entries({ ...OF_ANY, ...(id && { ...OF[id], ...PROMISES[id] }) })] as const;
  }),
);

function sentOrNone({ headers }: DeploymentReply, name: string): string {
  return findHeader(headers, name) === undefined ? 'none' : 'sent';
}

function bodyForm({ headers, body }: DeploymentReply, json: unknown): string {
  if (body.length === 0) return 'none';
  const [type = ''] = (findHeader(headers, 'content-type') ?? 'no type').split(';');
  const media = type.trim().toLowerCase();
  if (json === undefined) return `${media}, not JSON`;
  if (Array.isArray(json)) return `${media} list`;
  const isError = isObject(json) && ['code', 'message', 'status'].every((name) => name in json);
  return `${media} ${media === 'application/json' && isError ? 'Error' : typeof json}`;
}

/** The stock of the animal whose order was cancelled, unless another client changes it. */
function describeCancelled({ records }: ProbeExchange, run: SequenceRun): string | undefined {
  const id = run.idOf('PET');
  if (id === undefined) return undefined;
  const { lists, store, hasOtherWriters, placeholders } = run.model;
  if (!run.isMock && placeholders.get('STOCK') === `${id}`) {
    run.reason ??= `--stock ${id} is the animal of the order: the check writes its stock`;
    return undefined;
  }
  const order = findById(lists.orders, run.sequence.order);
  const [before, entry] = [lists.inventory, records].map((all) => findById(all, id, 'petId'));
  const stock = Number(before?.quantity ?? 0);
  const possible = [stock, stock + Number(order?.quantity ?? 0)];
  const entries = new Map(records.map((each) => [readId(each, 'petId'), each]));
  const areOthersChanged = lists.inventory.some((each) => {
    const petId = readId(each, 'petId');
    const { quantity, status } = entries.get(petId) ?? {};
    const isChanged = quantity !== each.quantity || status !== each.status;
    return isChanged && petId !== undefined && store.inventory.get(petId) === undefined;
  });
  const isPossible = possible.includes(Number(entry?.quantity ?? 0));
  if (!run.isMock && (areOthersChanged || hasOtherWriters || !isPossible)) {
    run.reason ??= `${OTHER_CLIENT} may have written to the inventory`;
    return undefined;
  }
  return entry === undefined ? 'none' : `${entry.quantity}, ${entry.status}`;
}

/**
 * Whether orders stay pending past their date; undefined if some orders do not show a status. When
 * orders are read again, other clients may have changed the status.
 */
function describeOverdue(
  { records, probe }: ProbeExchange,
  { model }: SequenceRun,
): string | undefined {
  if (probe.isLate || !probe.path.endsWith('orders')) return undefined;
  const overdue = records.filter(
    ({ shipDate }) => Date.parse(String(shipDate)) < model.clock - DAY_MS,
  );
  const statuses = overdue.map(({ status }) => ORDER_STATUSES.find((known) => known === status));
  if (statuses.includes(undefined)) return undefined;
  return statuses.includes('pending') ? 'pending' : 'not pending';
}

/** If ids are this far apart, they are random, not counted. */
const DRAWN_GAP = 1_000_000n;

const LARGEST_DOUBLE = 2n ** 53n;

/** @returns undefined if the id may follow one that another client got */
function describeId({ ids: [id] }: ProbeExchange, { lastId }: SequenceRun): string | undefined {
  if (id === SENT_ID) return 'as sent';
  if (id === undefined || lastId === undefined) return undefined;
  const gap = id - lastId;
  if (gap === 1n) return 'the next';
  return id > LARGEST_DOUBLE && (gap > DRAWN_GAP || gap < -DRAWN_GAP) ? 'beyond 2^53' : undefined;
}
