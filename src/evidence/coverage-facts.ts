import { parseJson } from '../contract/json.ts';
import { type Fields, isObject, type Order, RECORDS } from '../contract/records.ts';
import type { Reply } from '../service/reply.ts';
import type { World } from '../service/world.ts';

/** What the records in a reply show to whoever reads them. */
export type Fact =
  | 'none'
  | 'available'
  | 'pending'
  | 'sold'
  | 'unseen-status'
  | 'no-status'
  | 'large-id'
  | 'all-fields'
  | 'absent-fields'
  | 'complete'
  | 'incomplete';

type Facts = ReadonlySet<Fact>;

const NO_FACTS: Facts = new Set();

/** Texts and states of a collection whose facts are kept, and characters of such a text at most. */
const KEPT = 1024;
const LONGEST_KEPT = 1024;

/** Records of a long list that are read: what comes behind them is hardly new, and takes long. */
const MOST_READ = 10_000;

/** Beyond 2^53, where a double no longer holds every integer. */
export function isLarge(id: bigint): boolean {
  return id > Number.MAX_SAFE_INTEGER || id < -Number.MAX_SAFE_INTEGER;
}

function jsonOf(text: string | Buffer): unknown {
  try {
    return parseJson(text.toString());
  } catch {
    return undefined;
  }
}

/**
 * Tells what replies show of one kind of record. What was read once is kept: an animal or a page
 * that is sent again, and a collection as long as nobody changes it, in whatever sandbox.
 */
export class FactReader {
  readonly #name: keyof typeof STORED;
  readonly #fields: Fields;
  readonly #ids: readonly string[];
  readonly #seen: readonly Fact[];
  readonly #texts = new Map<string, Facts>();
  readonly #pages = new WeakMap<Buffer, Facts>();
  readonly #states = new Map<number, Facts>();
  /** The latest text, since each case of a reply looks at the same one. */
  #latestText: string | Buffer | undefined;
  #latest = NO_FACTS;

  constructor(name: keyof typeof STORED) {
    this.#name = name;
    this.#fields = RECORDS[name];
    this.#ids = Object.keys(this.#fields).filter((it) => this.#fields[it]?.type === 'int64');
    this.#seen = STATUSES.filter((it) => this.#fields.status?.seen?.includes(it));
  }

  factsOf({ body }: Reply, world: World): Facts {
    switch (body.kind) {
      case 'none':
        return NO_FACTS;
      case 'json':
        if (body.text !== this.#latestText) {
          this.#latest = this.#ofText(body.text);
          this.#latestText = body.text;
        }
        return this.#latest;
      case 'array':
        return this.#ofStore(world);
    }
  }

  #ofText(text: string | Buffer): Facts {
    const known = typeof text === 'string' ? this.#ofString(text) : this.#pages.get(text);
    if (known !== undefined) return known;
    const value = jsonOf(text);
    const records = Array.isArray(value) ? value : isObject(value) ? [value] : undefined;
    const facts = records === undefined ? NO_FACTS : this.#read(records.filter(isObject));
    if (typeof text !== 'string') this.#pages.set(text, facts);
    else if (text.length <= LONGEST_KEPT) keep(this.#texts, text, facts);
    return facts;
  }

  #ofString(text: string): Facts | undefined {
    if (this.#name === 'Animal' && PLAIN_ANIMAL.test(text)) {
      const plain = PLAIN.find(({ end }) => text.endsWith(end));
      return plain?.facts ?? PLAIN_WITHOUT_STATUS;
    }
    return this.#texts.get(text);
  }

  /** A long array is not made to be read: it holds what the store does. */
  #ofStore(world: World): Facts {
    const { stateOf, recordsOf } = STORED[this.#name];
    const state = stateOf(world);
    const known = this.#states.get(state);
    if (known !== undefined) return known;
    const facts = this.#read(recordsOf(world));
    keep(this.#states, state, facts);
    return facts;
  }

  #read(records: Iterable<Readonly<Record<string, unknown>>>): Facts {
    const facts = new Set<Fact>();
    let read = 0;
    for (const record of records) {
      this.#addFacts(record, facts);
      read += 1;
      if (read === MOST_READ) break;
    }
    if (read === 0) facts.add('none');
    return facts;
  }

  #addFacts(record: Readonly<Record<string, unknown>>, facts: Set<Fact>): void {
    let absent = false;
    for (const name in this.#fields) if (isAbsent(record[name])) absent = true;
    facts.add(absent ? 'absent-fields' : 'all-fields');
    for (const name of this.#ids) {
      const id = record[name];
      if (typeof id === 'bigint' && isLarge(id)) facts.add('large-id');
    }
    const { status, complete } = record;
    if (isAbsent(status)) facts.add('no-status');
    else if (typeof status === 'string') {
      facts.add(this.#seen.find((it) => it === status) ?? 'unseen-status');
    }
    if (complete === true) facts.add('complete');
    if (complete === false) facts.add('incomplete');
  }
}

/** An animal as the service writes most of them. To know it costs far less than to parse it. */
const PLAIN_ANIMAL =
  /^\{"id":\d{1,15},"name":"[^"\\]*","categoryId":\d{1,15}(?:,"status":"(?:available|pending|sold)")?\}$/;

const PLAIN = (['available', 'pending', 'sold'] as const).map((status) => ({
  end: `"status":"${status}"}`,
  facts: new Set<Fact>(['all-fields', status]),
}));

const PLAIN_WITHOUT_STATUS: Facts = new Set<Fact>(['absent-fields', 'no-status']);

const STATUSES = ['available', 'pending', 'sold'] as const;

/** What a reply of records that are drawn one by one is drawn from. */
interface Source {
  /** Names the state of the records: no two states have the same number, in whatever sandbox. */
  readonly stateOf: (world: World) => number;
  readonly recordsOf: (world: World) => Iterable<Readonly<Record<string, unknown>>>;
}

const STORED = {
  Animal: {
    stateOf: ({ store }) => store.animals.version,
    recordsOf: ({ store }) => store.animals.ascending(),
  },
  InventoryEntry: {
    stateOf: ({ store }) => store.inventory.version,
    recordsOf: ({ store }) => store.inventory.ascending(),
  },
  Order: {
    stateOf: (world) => 2 * world.store.orders.version + (listsCancelled(world) ? 1 : 0),
    recordsOf: listedOrders,
  },
} as const satisfies Record<string, Source>;

function* listedOrders(world: World): Generator<Order> {
  const cancelledToo = listsCancelled(world);
  for (const order of world.store.orders.ascending()) {
    if (cancelledToo || order.status !== 'cancelled') yield order;
  }
}

function listsCancelled({ choices }: World): boolean {
  return choices['cancelled-orders'] === 'listed';
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function keep<K>(kept: Map<K, Facts>, key: K, facts: Facts): void {
  if (kept.size >= KEPT) kept.clear();
  kept.set(key, facts);
}
