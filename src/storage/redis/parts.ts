import { parseJson, writeJson } from '../../contract/json.ts';
import type { Exchange } from '../../sandbox/exchange.ts';
import { createSettings, type Settings, type State } from '../../sandbox/state.ts';
import type { OpenUpstream } from '../../sandbox/upstream.ts';
import { SCENARIO_SOURCE, scenarioFrom, scenarioSource } from '../../scenario/load-scenario.ts';
import { loadBases, type Start } from '../../scenario/sandbox-start.ts';
import { RECORD_SHAPES } from '../../shape/record-shapes.ts';
import { list, readAs, type Shape } from '../../shape/shapes.ts';
import { Records } from '../../store/sorted-records.ts';
import type { Store } from '../../store/store.ts';
import { cachedRecordText } from '../../store/store-text.ts';
import { problemText } from '../../words.ts';

/** What a server needs to read a state of its fleet. */
export interface RestoreContext {
  readonly start: Start;
  /** The state of a new sandbox. */
  readonly initial: State;
  readonly openUpstream: OpenUpstream;
}

/** A part of a state that is written as a whole. */
interface Part {
  readonly isSame: (one: State, other: State) => boolean;
  readonly write: (state: State) => string;
  /** An empty text stands for the part of a new sandbox. */
  readonly restore: (state: State, text: string, context: RestoreContext) => Promise<State>;
}

function part<T>(
  get: (state: State) => T,
  set: (state: State, value: T) => State,
  write: (value: T) => string,
  read: (text: string, context: RestoreContext) => T | Promise<T>,
): Part {
  return {
    isSame: (one, other) => get(one) === get(other),
    write: (state) => write(get(state)),
    restore: async (state, text, context) =>
      set(state, text === '' ? get(context.initial) : await read(text, context)),
  };
}

/** A collection of the store. */
function collection<R extends object>(
  get: (store: Store) => Records<R>,
  set: (records: Records<R>) => Partial<Store>,
  shape: Shape<R>,
) {
  const read = (text: string, present: Records<R>): Records<R> => {
    const [highestId = '', ...lines] = text.split('\n');
    const added = new Set(lines);
    // Only what changed is parsed: a collection comes whole with each change.
    const removed = [...present.ascending()].filter(
      (record) => !added.delete(cachedRecordText(record)),
    );
    return present
      .without(removed.map(present.idOf))
      .withAll(exact(list(shape), `[${[...added]}]`))
      .withHighestId(highestId === NEVER ? undefined : BigInt(highestId));
  };
  const write = (records: Records<R>): string =>
    [records.highestId ?? NEVER, ...Array.from(records.ascending(), cachedRecordText)].join('\n');
  return {
    isSame: (one: State, other: State) => get(one.store) === get(other.store),
    write: (state: State) => write(get(state.store)),
    restore: async (state: State, text: string, { initial }: RestoreContext) => {
      const records = text === '' ? get(initial.store) : read(text, get(state.store));
      return { ...state, store: { ...state.store, ...set(records) } };
    },
    writeOf: (store: Store) => write(get(store)),
    readOf: (text: string, { store }: Start) => set(read(text, get(store))),
  };
}

const NEVER = 'never';

const COLLECTION_PARTS = {
  animals: collection(
    (store) => store.animals,
    (animals) => ({ animals }),
    RECORD_SHAPES.animals,
  ),
  inventory: collection(
    (store) => store.inventory,
    (inventory) => ({ inventory }),
    RECORD_SHAPES.inventory,
  ),
  orders: collection(
    (store) => store.orders,
    (orders) => ({ orders }),
    RECORD_SHAPES.orders,
  ),
};

/** A member of a state. */
function member<Name extends keyof State>(
  name: Name,
  write: (value: State[Name]) => string,
  read: (json: string, context: RestoreContext) => State[Name] | Promise<State[Name]>,
): Part {
  return part<State[Name]>(
    (state) => state[name],
    (state, value) => ({ ...state, [name]: value }),
    write,
    read,
  );
}

type Entries<Value> = Iterable<readonly [string, Value]>;
type EntriesOf<M> = M extends ReadonlyMap<string, infer Value> ? Entries<Value> : never;

interface CountersJson extends Pick<State['counters'], 'retries'> {
  readonly rules: EntriesOf<State['counters']['rules']>;
  readonly rates: EntriesOf<State['counters']['rates']>;
}

/** The parts of a state, by their names in Redis. */
export const PARTS = {
  ...COLLECTION_PARTS,
  settings: member('settings', settingsText, readSettings),
  clock: member('clock', JSON.stringify, parse),
  counters: member(
    'counters',
    ({ rules, rates, ...rest }) =>
      JSON.stringify({ ...rest, rules: [...rules], rates: [...rates] }),
    (json) => {
      const { rules, rates, ...rest } = parse<CountersJson>(json);
      return { ...rest, rules: new Map(rules), rates: new Map(rates) };
    },
  ),
  snapshots: member(
    'snapshots',
    (snapshots) => {
      const all = Object.values(COLLECTION_PARTS);
      const texts = (store: Store) => all.map(({ writeOf }) => writeOf(store));
      return JSON.stringify(Array.from(snapshots, ([name, store]) => [name, texts(store)]));
    },
    (json, { start }) => {
      const all = Object.values(COLLECTION_PARTS);
      const read = (store: Store, text: string, at: number): Store => {
        return { ...store, ...all[at]?.readOf(text, start) };
      };
      const snapshots = parse<Entries<readonly string[]>>(json);
      return new Map(
        Array.from(snapshots, ([name, texts]) => [name, texts.reduce(read, start.store)]),
      );
    },
  ),
  scenarios: member(
    'scenarios',
    (scenarios) => JSON.stringify([...scenarios]),
    (json) => new Map(parse<EntriesOf<State['scenarios']>>(json)),
  ),
  latches: member(
    'latches',
    (latches) => JSON.stringify(Array.from(latches, ([name, { json }]) => [name, json])),
    async (json) => {
      // Imported here: it loads the reader of scenarios.
      const { parseLatch } = await import('../../sandbox/latches.ts');
      const latches = parse<Entries<string>>(json);
      return new Map(Array.from(latches, ([name, text]) => [name, parseLatch(text)]));
    },
  ),
} as const satisfies Record<string, Part>;

/** Only a server of the same version has written it: the settings of a fleet say so. */
function parse<T>(text: string): T {
  return JSON.parse(text);
}

function exact<T>(shape: Shape<T>, json: string): T {
  const reading = readAs(shape, parseJson(json));
  if (reading.ok) return reading.value;
  const [problem] = reading.problems;
  throw new Error(`what another server wrote cannot be read: ${problem && problemText(problem)}`);
}

/** Its scenarios are left out while they are those of the start. */
function settingsText({ start, active, byHand, startedAt, upstream }: Settings): string {
  return JSON.stringify({
    byHand,
    startedAt,
    upstream: upstream && { url: upstream.url, key: upstream.key },
    active: active === start.scenarios ? undefined : writeJson(active.map(scenarioSource)),
  });
}

interface SettingsJson extends Pick<Settings, 'byHand' | 'startedAt'> {
  readonly upstream?: { readonly url: string; readonly key?: string };
  readonly active?: string;
}

async function readSettings(
  json: string,
  { start, openUpstream }: RestoreContext,
): Promise<Settings> {
  const { active, upstream, ...rest } = parse<SettingsJson>(json);
  const sources = active === undefined ? undefined : exact(list(SCENARIO_SOURCE), active);
  return createSettings({
    ...rest,
    start,
    active: sources ? await loadBases(sources.map(scenarioFrom), start.seed) : start.scenarios,
    upstream: upstream && (await openUpstream(new URL(upstream.url), upstream.key)),
  });
}

/** Bytes that a body may have to be kept: every server reads it, and Redis has it for each exchange. */
const MAX_FLEET_BODY = 16 * 1024;

type Message = Exchange['request'];

/** A message as JSON has it: bytes as text, without a long body. */
function packed<M extends Message>(message: M) {
  const { body, size } = message;
  if (size > MAX_FLEET_BODY) return { ...message, body: undefined };
  return typeof body === 'object'
    ? { ...message, body: { latin1: body.toString('latin1') } }
    : message;
}

type Packed<M extends Message> = Omit<M, 'body'> & {
  readonly body: string | { readonly latin1: string } | undefined;
};

function unpacked<M extends Message>({ body, ...message }: Packed<M>) {
  return { ...message, body: typeof body === 'object' ? Buffer.from(body.latin1, 'latin1') : body };
}

export function exchangeText(exchange: Exchange): string {
  const { request, reply } = exchange;
  return JSON.stringify({ ...exchange, request: packed(request), reply: reply && packed(reply) });
}

interface ExchangeJson extends Omit<Exchange, 'request' | 'reply'> {
  readonly request: Packed<Message>;
  readonly reply: Packed<NonNullable<Exchange['reply']>> | undefined;
}

export function readExchange(text: string, number: number): Exchange {
  const { request, reply, ...exchange } = parse<ExchangeJson>(text);
  return { ...exchange, number, request: unpacked(request), reply: reply && unpacked(reply) };
}
