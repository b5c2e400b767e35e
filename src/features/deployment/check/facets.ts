import { OPERATION_IDS, type OperationId } from '../../../core/contract/operations.ts';
import { ORDER_STATUSES, RECORDS } from '../../../core/contract/records.ts';
import { isObject } from '../../../core/json.ts';
import { findHeader } from '../../../core/raw-http.ts';
import type { ObjectShape } from '../../../core/shape/objects.ts';
import {
  type DeploymentReply,
  findById,
  findNextQuery,
  parseBody,
  type ReplyRecord,
  readId,
  readIds,
} from '../deployment-reply.ts';
import { describeOrder } from './pets-order.ts';
import { type Probe, SENT_ID, type Step } from './probes.ts';
import type { Facets, Scene } from './scene.ts';

/** A reply, and what a facet of it can depend on. */
interface Shown extends ReturnType<typeof readRecords> {
  readonly reply: DeploymentReply;
  readonly probe: Probe;
  readonly path: string;
  readonly scene: Scene;
}

type Read = (shown: Shown) => string | undefined;
type Facts = Readonly<Record<string, Read>>;

/** The records of a reply that accepts its request; undefined if its body is not what the operation gives. */
export function readRecords({ operation }: Probe, { status, body }: DeploymentReply) {
  const json = parseBody(body);
  const isList = Array.isArray(json);
  const isRead = status < 400 && isList === (operation?.startsWith('list') === true);
  const records = isRead ? [json].flat().filter(isObject) : [];
  const ids = readIds(records, operation?.endsWith('Inventory') ? 'petId' : 'id');
  return { json, records, ids, isRead: isRead && (isList || records.length > 0) };
}

/** Reads what the replies to a probe show. */
export function readReplies(
  scene: Scene,
  { at, probe }: Step,
  replies: readonly DeploymentReply[],
): void {
  const [reply] = replies;
  if (reply === undefined) throw new Error('A probe was sent no time.');
  scene.isAccepted = reply.status < 300;
  if (probe.times === 1) {
    scene.facets[at] = readFacets(scene, probe, reply);
    return;
  }
  const refused = replies.findIndex(({ status }) => status === 429);
  const passed = `${refused === -1 ? replies.length : refused}`;
  scene.facets[at] = { status: '200', body: 'any', passed };
}

/** Also remembers what later probes of the scene need. */
export function readFacets(scene: Scene, probe: Probe, reply: DeploymentReply): Facets {
  const shown = { ...readRecords(probe, reply), reply, probe, path: probe.path, scene };
  const isKnown = shown.isRead && (scene.world.lists.isWhole || !Array.isArray(shown.json));
  const facets: Record<string, string> = {};
  for (const [name, read] of FACTS.get(isKnown ? probe.operation : undefined) ?? []) {
    const value = read(shown);
    if (value !== undefined) facets[name] = value;
  }
  if (isKnown) remember(shown);
  return facets;
}

function remember({ reply, records, ids: [id], probe, scene }: Shown): void {
  const { words } = scene;
  if (id === undefined) return;
  if (probe.operation === 'createPet') {
    scene.lastId = id;
    words.set('NEW', `${id}`);
  }
  if (probe.operation !== 'listPets' || !probe.path.endsWith('limit=1')) return;
  const query = findNextQuery(reply);
  if (records.length > 0) words.set('FIRST', `${id}`);
  if (query !== undefined) words.set('NEXT', query);
}

const OF_ANY: Facts = {
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
  Allow: ({ reply: { status, headers } }) => {
    return status === 405 ? sentOrNone(headers, 'allow') : undefined;
  },
  announces: ({ reply: { status, headers }, probe }) => {
    if (probe.operation !== 'getPet' || (status >= 300 && status !== 410)) return undefined;
    const sent = ['deprecation', 'sunset', 'link'].filter((name) => findHeader(headers, name));
    return sent.join(', ') || 'nothing';
  },
  CORS: ({ reply: { headers }, probe: { headers: sent } }) => {
    if (sent.Origin === undefined) return undefined;
    const allowed = findHeader(headers, 'access-control-allow-origin') ?? 'none';
    return allowed === '*' || allowed === sent.Origin ? 'allowed' : allowed;
  },
  code: ({ reply: { status }, json }) => {
    const code = status >= 400 && isObject(json) ? json.code : undefined;
    // One word in small letters is spelled alike in two ways.
    return typeof code !== 'string' || /^[a-z]+$/.test(code)
      ? undefined
      : classify(code, SPELLINGS);
  },
};

/** A page can have more animals than it shows. */
const MAX_PAGE = 100;

const isNextPage = (path: string) => /NEXT|offset/.test(path);

const LIST_PETS: Facts = {
  statuses: ({ path, records }) => {
    if (!path.includes('status=')) return undefined;
    return [...new Set(records.map(({ status }) => String(status)))].sort().join(', ');
  },
  count: ({ path, records: { length }, scene }) => {
    if (path.includes('status=') || isNextPage(path)) return undefined;
    // Other clients may add some.
    return length >= scene.world.lists.animals.size ? 'all' : `${length}`;
  },
  next: ({ reply, records: { length } }) => {
    if (length >= MAX_PAGE) return undefined; // What follows the animals that are known is not.
    const query = findNextQuery(reply) ?? 'none';
    return /[?&]cursor=/.test(query) ? 'cursor' : query.replaceAll(/=[^&]*/g, '');
  },
  total: ({ reply }) => sentOrNone(reply.headers, 'x-total-count'),
  order: ({ records, ids, scene: { isMock, world } }) =>
    describeOrder(records, ids, isMock ? [] : [...world.lists.animals.keys()]),
  first: ({ ids: [first], scene }) => {
    const before = scene.idOf('FIRST');
    // An animal that was not listed can be new.
    if (before === undefined || !scene.world.lists.animals.has(first ?? -1n)) return undefined;
    return first === before ? 'the same' : 'another';
  },
  // Which animals a short page has depends on their order.
  'absent fields': ({ path, records }) =>
    isNextPage(path) || /limit=\d$/.test(path) ? undefined : absentFields(records, RECORDS.Animal),
};

const entryOf =
  (word: string): Read =>
  ({ records, scene }) => {
    const id = scene.idOf(word);
    if (id === undefined) return undefined;
    if (word === 'PET' && areOthersChanged(records, scene)) return 'as others write';
    const { quantity, status } = findById(records, id, 'petId') ?? {};
    return quantity === undefined ? 'none' : `${quantity}, ${status}`;
  };

const OF: Readonly<Partial<Record<OperationId, Facts>>> = {
  listPets: LIST_PETS,
  listInventory: {
    'entry of NEW': entryOf('NEW'),
    'entry of STOCK': entryOf('STOCK'),
    'entry of PET': entryOf('PET'),
  },
  listOrders: {
    'status of orders': ({ records }) => {
      if (records.length === 0) return undefined;
      return records.some(({ status }) => status !== undefined) ? 'shown' : 'hidden';
    },
    // Of orders that are read again, other clients can have changed the status.
    overdue: ({ path, records, probe, scene }) =>
      path.endsWith('orders') && !probe.isLate ? describeOverdue(records, scene) : undefined,
    dates: ({ records }) => {
      const dates = records.flatMap(({ shipDate }) =>
        typeof shipDate === 'string' ? classify(shipDate, DATE_FORMS) : [],
      );
      return [...new Set(dates)].slice(0, 3).join(', ') || undefined;
    },
    'absent fields': ({ records }) => absentFields(records, RECORDS.Order),
    'cancelled order': ({ ids, scene }) => {
      const id = scene.idOf('CANCEL');
      if (id === undefined) return undefined;
      return ids.includes(id) ? 'listed' : 'not listed';
    },
  },
  createPet: {
    id: ({ ids: [id], scene }) => describeId(id, scene.lastId),
    'status of animal': ({ records: [animal], probe }) =>
      probe.sent.status === undefined ? String(animal?.status ?? 'absent') : undefined,
    'absent fields': ({ records }) => absentFields(records, RECORDS.Animal),
  },
  getPet: {
    // Other clients can move the status of older animals.
    'status of animal': ({ path, records: [animal] }) =>
      path.endsWith('LISTED') ? undefined : String(animal?.status ?? 'absent'),
    'absent fields': ({ records }) => absentFields(records, RECORDS.Animal),
  },
  updateInventory: { 'status of entry': ({ records: [entry] }) => String(entry?.status) },
};

const FACTS = new Map(
  [undefined, ...OPERATION_IDS].map((id) => {
    return [id, Object.entries({ ...OF_ANY, ...(id && OF[id]) })] as const;
  }),
);

function sentOrNone(headers: readonly string[], name: string): string {
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

const SPELLINGS: Readonly<Record<string, RegExp>> = {
  snake_case: /^[a-z0-9]+(?:_[a-z0-9]+)+$/,
  'kebab-case': /^[a-z0-9]+(?:-[a-z0-9]+)+$/,
  UPPER_CASE: /^(?!\d+$)[A-Z0-9]+(?:_[A-Z0-9]+)*$/,
  numeric: /^\d+$/,
};

const DATE_FORMS: typeof SPELLINGS = {
  'utc-seconds': /T\d\d:\d\d:\d\dZ$/,
  'utc-millis': /T\d\d:\d\d:\d\d\.\d{3}Z$/,
  '+02:00': /T\d\d:\d\d:\d\d\+02:00$/,
};

/** The form that a text has, or the text itself. */
function classify(text: string, forms: typeof SPELLINGS): string {
  return Object.keys(forms).find((name) => forms[name]?.test(text)) ?? text;
}

/** How optional fields without a value are written, if there are any. */
function absentFields(records: readonly ReplyRecord[], { members }: ObjectShape) {
  const names = Object.keys(members).filter((name) => members[name]?.required === false);
  const values = records.flatMap((record) => names.map((name) => record[name]));
  const [isNull, isLeftOut] = [values.includes(null), values.includes(undefined)];
  if (!isNull) return isLeftOut ? 'left out' : undefined;
  return isLeftOut ? 'both' : 'null';
}

/** Whether another client has written to the inventory, and so may have to the entry of any animal. */
function areOthersChanged(records: readonly ReplyRecord[], { isMock, world }: Scene): boolean {
  if (isMock) return false;
  const entries = new Map(records.map((entry) => [readId(entry, 'petId'), entry]));
  return world.lists.inventory.some((before) => {
    const petId = readId(before, 'petId');
    const { quantity, status } = entries.get(petId) ?? {};
    const isChanged = quantity !== before.quantity || status !== before.status;
    return isChanged && petId !== undefined && world.store.inventory.get(petId) === undefined;
  });
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Whether orders stay pending past their date; undefined if some do not say. */
function describeOverdue(orders: readonly ReplyRecord[], { world }: Scene): string | undefined {
  const overdue = orders.filter(
    ({ shipDate }) => Date.parse(String(shipDate)) < world.clock - DAY_MS,
  );
  const statuses = overdue.map(({ status }) => ORDER_STATUSES.find((known) => known === status));
  if (statuses.includes(undefined)) return undefined;
  return statuses.includes('pending') ? 'pending' : 'not pending';
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
