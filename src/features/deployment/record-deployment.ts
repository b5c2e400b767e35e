import { createHmac } from 'node:crypto';
import { OPERATIONS } from '../../core/contract/operations.ts';
import {
  COLLECTIONS,
  type CollectionName,
  type OrderStatus,
  STORED_RECORDS,
  unknownMembers,
} from '../../core/contract/records.ts';
import { isObject } from '../../core/json.ts';
import { firstProblems, problemText } from '../../core/problems.ts';
import { findHeader } from '../../core/raw-http.ts';
import { readAs } from '../../core/shape/shapes.ts';
import { STORE } from '../../core/store/fixture.ts';
import { ID_NAME, type Store } from '../../core/store/store.ts';
import { countText, describe, joinWords } from '../../core/words.ts';
import { DeploymentError } from './deployment-client.ts';
import {
  type DeploymentReply,
  findNextQuery,
  parseBody,
  type ReplyRecord,
  readId,
  readIds,
  readOrderStatus,
} from './deployment-reply.ts';

export type Get = (path: string) => Promise<DeploymentReply>;

export interface Recording {
  readonly store: Store;
  /** What may be missing in the recording, or differ from the deployment, a line for each. */
  readonly gaps: readonly string[];
}

/**
 * @param unknownStatus the status to record for orders that do not show theirs
 * @throws DeploymentError if a reply cannot be recorded
 */
export async function recordDeployment(get: Get, unknownStatus: OrderStatus): Promise<Recording> {
  const inventory = readList('/inventory', await get('/inventory'));
  const orders = readList('/store/orders', await get('/store/orders'));
  const { animals, gaps } = await listAnimals(get);
  const lost = new Set([...readIds(inventory, 'petId'), ...readIds(orders, 'petId')]);
  for (const id of readIds(animals)) lost.delete(id);
  const isLost = (record: ReplyRecord) => lost.has(readId(record, 'petId') ?? 0n);
  const withId = orders.filter(({ id }) => id !== undefined);
  const reading = readAs(STORE, {
    animals: animals.map((animal) => pickStorable('animals', animal)),
    inventory: inventory
      .filter((entry) => !isLost(entry))
      .map((entry) => pickStorable('inventory', entry)),
    orders: withId.map((order) => ({
      ...pickStorable('orders', isLost(order) ? { ...order, petId: undefined } : order),
      status: readOrderStatus(order) ?? unknownStatus,
    })),
  });
  if (!reading.ok) {
    throw new DeploymentError(firstProblems(reading.problems, problemText).join('\n'));
  }
  return {
    store: reading.value,
    gaps: [
      ...gaps,
      ...describeLostAnimals(lost),
      ...describeOrderGaps(orders, withId, unknownStatus),
      ...describeDroppedFields({ animals, inventory, orders }),
    ],
  };
}

/** @returns the records without null members, which some deployments send for absent ones */
function readList(path: string, { status, body }: DeploymentReply): readonly ReplyRecord[] {
  const value = parseBody(body);
  const found = isObject(value) && value.code ? `${value.code}: ${value.message}` : undefined;
  const text = found ?? describe(value ?? body.toString());
  if (status !== 200) {
    throw new DeploymentError(`GET ${path}: expected 200, found ${status}: ${text}`);
  }
  if (!Array.isArray(value) || !value.every(isObject)) {
    throw new DeploymentError(`GET ${path}: expected an array of objects in JSON, found ${text}`);
  }
  return value.map((record) =>
    Object.fromEntries(Object.entries(record).filter(([, member]) => member !== null)),
  );
}

const [LIMIT] = OPERATIONS.listPets.parameters;

const REFUSALS: readonly number[] = [400, 404, 410, 422];

/** Reads all pages. The document does not define paging: follows `Link` or tries `offset`. */
async function listAnimals(get: Get) {
  const animals = new Map<string, ReplyRecord>();
  const first = `/pets?limit=${LIMIT.maximum}`;
  let [path, count, total, isWhole, wasLinked] = [first, 0, Number.NaN, false, false];
  for (;;) {
    const reply = await get(path);
    if (path !== first && REFUSALS.includes(reply.status)) break;
    const page = readList(path, reply);
    const known = animals.size;
    for (const animal of page) animals.set(String(animal.id), animal);
    total = Number(findHeader(reply.headers, 'x-total-count') || Number.NaN);
    const query = findNextQuery(reply);
    const isLast = page.length === 0 || (wasLinked && query === undefined);
    if (isLast || animals.size >= total) return { animals: [...animals.values()], gaps: [] };
    // The page brought nothing new: the deployment ignores the parameters.
    if (animals.size === known) break;
    count += page.length;
    isWhole = query === undefined && Number.isNaN(total) && page.length < LIMIT.maximum;
    wasLinked = query !== undefined;
    path = query === undefined ? `${first}&offset=${count}` : `/pets${query}`;
  }
  const missing = Number.isNaN(total) ? 'others may be' : `${total - animals.size} are`;
  const gap = `animals: GET /pets lists ${animals.size} and has no next page; ${missing} missing`;
  return { animals: [...animals.values()], gaps: isWhole ? [] : [gap] };
}

function pickStorable(name: CollectionName, record: ReplyRecord): ReplyRecord {
  const { members: fields } = STORED_RECORDS[name];
  const members = Object.entries(record).filter(
    ([field, value]) => value !== undefined && Object.hasOwn(fields, field),
  );
  return Object.fromEntries(members);
}

function describeLostAnimals(lost: ReadonlySet<bigint>): string[] {
  const [first] = lost;
  if (first === undefined) return [];
  const ids = `animal ${first}${lost.size === 1 ? '' : ` and ${lost.size - 1} more`}`;
  return [
    `${ids}: not listed, though inventory entries or orders name them; those entries were left out, and those orders have no petId`,
  ];
}

function describeOrderGaps(
  all: readonly ReplyRecord[],
  recorded: readonly ReplyRecord[],
  unknownStatus: OrderStatus,
): string[] {
  const gaps: string[] = [];
  const withoutId = all.length - recorded.length;
  if (withoutId > 0) gaps.push(`orders: ${countText(withoutId, 'order')} without an id left out`);
  const unknown = recorded.filter((order) => readOrderStatus(order) === undefined);
  if (unknown.length > 0) {
    const found = joinWords([...new Set(unknown.map(({ status }) => describe(status)))], 'or');
    gaps.push(
      `orders: ${unknown.length} of ${recorded.length} have an unknown status (found ${found}); recorded as ${unknownStatus} (--unknown-status)`,
    );
  }
  if (recorded.every((order) => (readOrderStatus(order) ?? unknownStatus) !== 'cancelled')) {
    gaps.push(
      'orders: none shows that it was cancelled; the deployment may leave cancelled orders out',
    );
  }
  return gaps;
}

function describeDroppedFields(
  shown: Readonly<Record<CollectionName, readonly ReplyRecord[]>>,
): string[] {
  return COLLECTIONS.flatMap((name) => {
    const unknown = shown[name].flatMap((record) =>
      unknownMembers(STORED_RECORDS[name].members, record),
    );
    const names = joinWords([...new Set(unknown)], 'and');
    return names === '' ? [] : [`${name}: left out ${names}, which a fixture cannot hold`];
  });
}

/** How many hexadecimal digits a name gets: 48 bits tell names apart. */
const DIGITS = 12;

/** Replaces names; equal names stay equal. Without the secret, guessed names cannot be verified. */
export function anonymiseStore(store: Store, secret: string): Store {
  const animals = store.animals.map((animal) => {
    const digest = createHmac('sha256', secret).update(animal.name).digest('hex');
    return { ...animal, name: `Animal ${digest.slice(0, DIGITS)}` };
  });
  return { ...store, animals };
}

type Members = Readonly<Record<string, unknown>>;

/** A record that was added (only `after`), removed (only `before`) or changed (both). */
interface RecordChange {
  readonly collection: CollectionName;
  readonly before?: Members | undefined;
  readonly after?: Members | undefined;
}

/** The records that differ, with the names of the fields that differ. */
export function compareStores(before: Store, after: Store) {
  return COLLECTIONS.flatMap((collection) => {
    const byId = (store: Store) => {
      const records: Iterable<Members> = store[collection].ascending();
      return new Map([...records].map((record) => [record[ID_NAME[collection]], record]));
    };
    const [old, now] = [byId(before), byId(after)];
    const names = Object.keys(STORED_RECORDS[collection].members);
    return [...new Set([...old.keys(), ...now.keys()])].flatMap((id) => {
      const change: RecordChange = { collection, before: old.get(id), after: now.get(id) };
      const fields = names.filter((name) => change.before?.[name] !== change.after?.[name]);
      return fields.length > 0 ? { id, change, fields } : [];
    });
  });
}
