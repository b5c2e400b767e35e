import {
  COLLECTIONS,
  type CollectionName,
  STORED_RECORDS,
  type StoredRecord,
} from '../../core/contract/records.ts';
import { parseJson, writeJson } from '../../core/json.ts';
import type { Exchange } from '../../core/sandbox/exchange.ts';
import { createSettings, type Settings, type State } from '../../core/sandbox/state.ts';
import { loadBases, type Start } from '../../core/scenario/sandbox-start.ts';
import { type Scenario, scenarioShape } from '../../core/scenario/scenario-shape.ts';
import { ASSUME } from '../../core/scenario/settings-shapes.ts';
import { list, readAs, type Shape } from '../../core/shape/shapes.ts';
import type { Records, Store } from '../../core/store/store.ts';
import { cachedRecordText } from '../../core/store/store-text.ts';
import { problemText } from '../../core/words.ts';
import { NODE_PLATFORM } from '../../server/node-platform.ts';

/** A collection is written in parts of 128 ids, so that a change does not write all of it. */
const PART_BITS = 7n;

const NEVER = 'never';

function linesText(records: Iterable<object>): string {
  return Array.from(records, cachedRecordText).join('\n');
}

function* recordsInPart<R extends object>(records: Records<R>, part: bigint): Generator<R> {
  for (const record of records.ascending((part << PART_BITS) - 1n)) {
    if (records.idOf(record) >> PART_BITS !== part) return;
    yield record;
  }
}

function writeRecords<Name extends CollectionName>(store: Store, name: Name, part: bigint): string {
  const records: Records<StoredRecord[Name]> = store[name];
  return linesText(recordsInPart(records, part));
}

function* changedRecords<Name extends CollectionName>(
  name: Name,
  before: Store,
  after: Store,
): Generator<NamedPart> {
  const records: Records<StoredRecord[Name]> = after[name];
  const { highestId } = records;
  if (highestId !== before[name].highestId) yield [name, `${highestId ?? NEVER}`];
  for (const part of new Set(records.changedIds(before[name]).map((id) => id >> PART_BITS))) {
    yield [`${name}/${part}`, linesText(recordsInPart(records, part))];
  }
}

/** Puts records in the place of those of a part, or of all. Parses only those that differ. */
function readRecords<Name extends CollectionName>(
  store: Store,
  name: Name,
  text: string,
  part?: bigint,
): Store {
  const records: Records<StoredRecord[Name]> = store[name];
  const shape: Shape<StoredRecord[Name]> = STORED_RECORDS[name];
  const present = part === undefined ? records.ascending() : recordsInPart(records, part);
  const added = new Set(text === '' ? [] : text.split('\n'));
  const removed = [...present].filter((record) => !added.delete(cachedRecordText(record)));
  const parsed = readExactly(list(shape), `[${[...added]}]`);
  const restored = records.without(removed.map(records.idOf)).withAll(parsed);
  return { ...store, [name]: restored.withHighestId(records.highestId) };
}

function readHighestId(store: Store, name: CollectionName, text: string): Store {
  const highestId = text === NEVER ? undefined : BigInt(text);
  return { ...store, [name]: store[name].withHighestId(highestId) };
}

function writeCollection(records: Store[CollectionName]): NamedPart {
  return [`${records.highestId ?? NEVER}`, linesText(records.ascending())];
}

type Entries<Value> = Iterable<readonly [string, Value]>;
type EntriesOf<M> = M extends ReadonlyMap<string, infer Value> ? Entries<Value> : never;

interface CountersJson extends Pick<State['counters'], 'retries'> {
  readonly rules: EntriesOf<State['counters']['rules']>;
  readonly rates: EntriesOf<State['counters']['rates']>;
}

type MemberName = Exclude<keyof State, 'store'>;

const MEMBERS: {
  readonly [Name in MemberName]: {
    readonly write: (value: State[Name]) => string;
    readonly read: (text: string, start: Start) => State[Name] | Promise<State[Name]>;
  };
} = {
  settings: { write: settingsText, read: readSettings },
  clock: {
    write: JSON.stringify,
    read: (json) => {
      const { ahead, frozenAt } = parse<State['clock']>(json);
      if (!Number.isFinite(ahead) || !Number.isFinite(frozenAt ?? 0))
        throw new Error('not a clock');
      return { ahead, frozenAt };
    },
  },
  counters: {
    write: ({ rules, rates, ...rest }) =>
      JSON.stringify({ ...rest, rules: [...rules], rates: [...rates] }),
    read: (json) => {
      const { rules, rates, retries } = parse<CountersJson>(json);
      return { retries: [...retries], rules: new Map(rules), rates: new Map(rates) };
    },
  },
  snapshots: {
    write: (snapshots) =>
      JSON.stringify(
        Array.from(snapshots, ([name, store]) => [
          name,
          COLLECTIONS.map((collection) => writeCollection(store[collection])),
        ]),
      ),
    read: (json, start) => {
      const read = (store: Store, [highestId, records]: NamedPart, at: number): Store => {
        const name = COLLECTIONS[at] ?? 'animals';
        return readHighestId(readRecords(store, name, records), name, highestId);
      };
      const snapshots = parse<Entries<readonly NamedPart[]>>(json);
      return new Map(
        Array.from(snapshots, ([name, texts]) => [name, texts.reduce(read, start.store)]),
      );
    },
  },
  scenarios: {
    write: (scenarios) => JSON.stringify([...scenarios]),
    read: (json) => new Map(parse<EntriesOf<State['scenarios']>>(json)),
  },
  latches: {
    write: (latches) => JSON.stringify(Array.from(latches, ([name, { json }]) => [name, json])),
    read: async (json) => {
      // Imported here: it loads the reader of scenarios.
      const { parseLatch } = await import('../../core/sandbox/holds.ts');
      const latches = parse<Entries<string>>(json);
      return new Map(Array.from(latches, ([name, text]) => [name, parseLatch(text)]));
    },
  },
};

const MEMBER_NAMES = Object.keys(MEMBERS).filter((name): name is MemberName => name in MEMBERS);

export type NamedPart = readonly [name: string, text: string];

export function changedParts(before: State, after: State): readonly NamedPart[] {
  const changed = MEMBER_NAMES.filter((name) => before[name] !== after[name]);
  return [
    ...COLLECTIONS.flatMap((name) => [...changedRecords(name, before.store, after.store)]),
    ...changed.map((name) => writeMember(after, name)),
  ];
}

/** @throws Error if no part has this name */
export function writePart(state: State, name: string): string {
  const member = MEMBER_NAMES.find((known) => known === name);
  if (member !== undefined) return writeMember(state, member)[1];
  const [collection, part] = parsePartName(name);
  const { [collection]: records } = state.store;
  if (part === undefined) return `${records.highestId ?? NEVER}`;
  return writeRecords(state.store, collection, part);
}

function parsePartName(name: string): readonly [collection: CollectionName, part?: bigint] {
  const [prefix, part] = name.split('/');
  const collection = COLLECTIONS.find((known) => known === prefix);
  if (collection === undefined) throw new Error(`There is no part ${name}.`);
  return part === undefined ? [collection] : [collection, BigInt(part)];
}

function writeMember<Name extends MemberName>(state: State, name: Name): NamedPart {
  return [name, MEMBERS[name].write(state[name])];
}

export async function restorePart(
  state: State,
  [name, text]: NamedPart,
  start: Start,
): Promise<State> {
  const member = MEMBER_NAMES.find((known) => known === name);
  if (member !== undefined) return { ...state, [member]: await MEMBERS[member].read(text, start) };
  const [collection, part] = parsePartName(name);
  const { store } = state;
  return {
    ...state,
    store:
      part === undefined
        ? readHighestId(store, collection, text)
        : readRecords(store, collection, text, part),
  };
}

/** A server of the same version has written it: the settings of a fleet say so. Hands can have changed it. */
function parse<T>(text: string): T {
  return JSON.parse(text);
}

function readExactly<T>(shape: Shape<T>, json: string): T {
  const reading = readAs(shape, parseJson(json));
  if (reading.ok) return reading.value;
  const [problem] = reading.problems;
  throw new Error(`what another server wrote cannot be read: ${problem && problemText(problem)}`);
}

/** Its scenarios are left out while they are those of the start. */
function settingsText({ start, active, byHand, startedAt }: Settings): string {
  return JSON.stringify({
    byHand,
    startedAt,
    active: active === start.scenarios ? undefined : active.map(writeScenario),
  });
}

type ScenarioSource = readonly [name: string, definition: string];

const writeScenario = ({ name, definition }: Scenario): ScenarioSource => [
  name,
  writeJson(definition),
];

/** One of the start, which may come from a file here, or else one that ships or that a client has sent. */
function readScenario([name, definition]: ScenarioSource, { scenarios }: Start): Scenario {
  const ofStart = scenarios.find(
    (scenario) => scenario.name === name && writeJson(scenario.definition) === definition,
  );
  return ofStart ?? readExactly(scenarioShape(name), definition);
}

interface SettingsJson extends Pick<Settings, 'byHand' | 'startedAt'> {
  readonly active?: readonly ScenarioSource[];
}

async function readSettings(json: string, start: Start): Promise<Settings> {
  const { active, startedAt, byHand } = parse<SettingsJson>(json);
  if (!Number.isFinite(startedAt)) throw new Error('no settings');
  return createSettings({
    byHand: readExactly(ASSUME, JSON.stringify(byHand)),
    startedAt,
    start,
    active:
      active === undefined
        ? start.scenarios
        : await loadBases(
            active.map((source) => readScenario(source, start)),
            NODE_PLATFORM,
            start.seed,
          ),
  });
}

/** Bytes that a body may have to be kept: every server reads it, and Redis has it for each exchange. */
const MAX_REDIS_BODY_BYTES = 16 * 1024;

export function writeExchange(exchange: Exchange): string {
  const pack = ({ body, size }: Exchange['request']) => {
    if (size > MAX_REDIS_BODY_BYTES) return undefined;
    return typeof body === 'object' ? { latin1: Buffer.from(body).toString('latin1') } : body;
  };
  const { request, reply } = exchange;
  return JSON.stringify({
    ...exchange,
    request: { ...request, body: pack(request) },
    reply: reply && { ...reply, body: pack(reply) },
  });
}

export function parseExchange(text: string, number: number): Exchange {
  const exchange: Exchange = JSON.parse(text, (name, value) =>
    name === 'body' && value?.latin1 !== undefined ? Buffer.from(value.latin1, 'latin1') : value,
  );
  if (!Number.isInteger(exchange.request.size)) throw new Error('not an exchange');
  return { ...exchange, number };
}
