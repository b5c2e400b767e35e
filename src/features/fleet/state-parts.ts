import { COLLECTIONS } from '../../core/contract/records.ts';
import { parseInput, writeJson } from '../../core/json.ts';
import { LATCH } from '../../core/sandbox/holds.ts';
import { type Start, setStaging } from '../../core/sandbox/start.ts';
import { createSettings, type Settings, type State } from '../../core/sandbox/state.ts';
import { StorageError } from '../../core/sandbox/storage-error.ts';
import type { LatchRule } from '../../core/scenario/rules.ts';
import { loadBases } from '../../core/scenario/scenario-records.ts';
import { type Scenario, scenarioShape } from '../../core/scenario/scenario-shape.ts';
import { ASSUME } from '../../core/service/settings-shapes.ts';
import { readAs } from '../../core/shape/shapes.ts';
import type { Store } from '../../core/store/store.ts';
import { NODE_PLATFORM } from '../../server/node-platform.ts';
import {
  changedRecords,
  type NamedPart,
  parseStorePart,
  readExactly,
  readRecords,
  writeRecords,
} from './store-parts.ts';

/** The versions of parts that differ from the start. */
export type Versions = ReadonlyMap<string, number>;

interface StoredSnapshot {
  readonly store: Store;
  /** The versions of its parts, which Redis keeps for the snapshot even after later changes. */
  readonly versions: Versions;
}

/** A server's copy of a sandbox in Redis. */
export interface CachedState {
  readonly state: State;
  readonly versions: Versions;
  readonly snapshots: ReadonlyMap<string, StoredSnapshot>;
}

/** Thrown if Redis no longer has a part: the sandbox has changed or was created anew. */
export class MissingPartError extends Error {}

/** Reads the texts of fields, each of a part in one version. */
type ReadFields = (fields: readonly string[]) => Promise<ReadonlyMap<string, string>>;

const SNAPSHOTS = 'snapshots';

const fieldOf = ([part, version]: readonly [string, number]) => `${part}@${version}`;

function parseRows(rows: readonly unknown[]) {
  const versions = new Map<string, number>();
  const texts = new Map<string, string>();
  for (let at = 0; at < rows.length; at += 3) {
    const [part, version, text] = rows.slice(at, at + 3);
    versions.set(String(part), Number(version));
    if (typeof text === 'string') texts.set(`${part}@${version}`, text);
  }
  return { versions, texts };
}

/** Creates the error for data that no server of this fleet can have written. */
export function corruptDataError(what: string, error: unknown): StorageError {
  const why = error instanceof Error ? error.message : String(error);
  return new StorageError(
    `the ${what} of the sandbox in Redis cannot be read (${why}): delete the sandbox or its keys`,
  );
}

function storeVersions(versions: Versions): Versions {
  return new Map([...versions].filter(([part]) => parseStorePart(part) !== undefined));
}

/**
 * Returns the parts to write for a new state, the fields that are no longer needed, and what the
 * server then has in its cache.
 *
 * @param isNew whether the sandbox is new, so that its settings and clock are written, too
 */
export function writeParts(cached: CachedState, after: State, version: number, isNew: boolean) {
  const { state, versions: before, snapshots: earlier } = cached;
  const { settings, clock } = state;
  const base = isNew ? { ...state, settings: { ...settings }, clock: { ...clock } } : state;
  const parts = changedParts(base, after);
  const isSaved = after.snapshots !== state.snapshots;
  if (parts.length === 0 && !isSaved)
    return { next: { ...cached, state: after }, parts, unreferenced: [] };
  const versions = new Map([...before, ...parts.map(([part]) => [part, version] as const)]);
  let snapshots = earlier;
  if (isSaved) {
    const saved = { store: after.store, versions: storeVersions(versions) };
    snapshots = new Map(
      Array.from(after.snapshots, ([name, store]) => {
        const kept = earlier.get(name);
        return [name, kept?.store === store ? kept : saved];
      }),
    );
    const references = Array.from(snapshots, ([name, { versions: of }]) => [name, [...of]]);
    parts.push([SNAPSHOTS, JSON.stringify(references)]);
    versions.set(SNAPSHOTS, version);
  }
  const replaced = [...before].filter(([part, at]) => versions.get(part) !== at);
  const gone = [...earlier].filter(([name, it]) => snapshots.get(name) !== it);
  const unreferenced = [...replaced, ...gone.flatMap(([, it]) => [...it.versions])].filter(
    ([part, at]) =>
      versions.get(part) !== at &&
      ![...snapshots.values()].some((it) => it.versions.get(part) === at),
  );
  return {
    next: { state: after, versions, snapshots },
    parts,
    unreferenced: unreferenced.map(fieldOf),
  };
}

/**
 * @param rows name and version of each part, and its text if it is newer than the cached one
 * @param fetchFields reads the texts of fields from Redis, in their order
 * @throws MissingPartError
 */
export async function readNewParts(
  cached: CachedState,
  rows: readonly unknown[],
  fetchFields: (fields: readonly string[]) => Promise<unknown>,
  start: Start,
): Promise<CachedState> {
  const { versions, texts } = parseRows(rows);
  const read: ReadFields = async (fields) => {
    const missing = fields.filter((field) => !texts.has(field));
    const reply = missing.length > 0 && (await fetchFields(missing));
    for (const [index, field] of missing.entries()) {
      const text = Object(reply)[index];
      if (typeof text !== 'string') throw new MissingPartError();
      texts.set(field, text);
    }
    return texts;
  };
  const state = await readState(cached.state, cached.versions, versions, read, start);
  const version = versions.get(SNAPSHOTS);
  if (version === undefined || version === cached.versions.get(SNAPSHOTS)) {
    return { ...cached, state, versions };
  }
  const field = fieldOf([SNAPSHOTS, version]);
  const references: readonly (readonly [string, Iterable<[string, number]>])[] = JSON.parse(
    (await read([field])).get(field) ?? '[]',
  );
  const snapshots = new Map<string, StoredSnapshot>();
  for (const [name, of] of references) {
    const wanted = new Map(of);
    const base = cached.snapshots.get(name) ?? {
      store: state.store,
      versions: storeVersions(versions),
    };
    const from = { ...state, store: base.store };
    const { store } = await readState(from, base.versions, wanted, read, start);
    snapshots.set(name, { store, versions: wanted });
  }
  const stores = new Map(Array.from(snapshots, ([name, { store }]) => [name, store]));
  return { state: { ...state, snapshots: stores }, versions, snapshots };
}

/** Makes a state from another by reading changed parts. Records without a version are initial. */
async function readState(
  base: State,
  before: Versions,
  wanted: Versions,
  read: ReadFields,
  start: Start,
): Promise<State> {
  const changed = [...new Set([...before.keys(), ...wanted.keys()])].filter(
    (part) => part !== SNAPSHOTS && before.get(part) !== wanted.get(part),
  );
  const fields = new Map([...wanted].map((versioned) => [versioned[0], fieldOf(versioned)]));
  const texts = await read(changed.flatMap((part) => fields.get(part) ?? []));
  let state = base;
  for (const part of changed) {
    const text = texts.get(fields.get(part) ?? '');
    const ofStore = parseStorePart(part);
    const member = MEMBER_NAMES.find((name) => name === part);
    if (ofStore !== undefined) {
      const records = text ?? writeRecords(start.store, ofStore);
      state = { ...state, store: readRecords(state.store, ofStore, records) };
    } else if (text === undefined || member === undefined) throw new MissingPartError();
    else state = { ...state, [member]: await MEMBERS[member].read(text, start) };
  }
  return state;
}

/** The state's members in Redis. `past` is not: each server has its own, for rules with `lag`. */
type MemberName = Exclude<keyof State, 'store' | 'snapshots' | 'past'>;

interface Codec<Value> {
  readonly write: (value: Value) => string;
  readonly read: (text: string, start: Start) => Value | Promise<Value>;
}

const pack = (value: unknown) => (value instanceof Map ? { entries: [...value] } : value);

/** Writes maps, and objects with maps, as JSON. Reading needs no checks: this version wrote it. */
const asJson = <Value extends object>(): Codec<Value> => ({
  write(value) {
    if (value instanceof Map) return JSON.stringify(pack(value));
    const members = Object.entries(value).map(([name, it]) => [name, pack(it)]);
    return JSON.stringify(Object.fromEntries(members));
  },
  read: (text) =>
    JSON.parse(text, (_name, it) => (Array.isArray(it?.entries) ? new Map(it.entries) : it)),
});

const MEMBERS: { readonly [Name in MemberName]: Codec<State[Name]> } = {
  settings: { write: writeSettings, read: readSettings },
  clock: asJson(),
  counters: asJson(),
  scenarios: asJson(),
  latches: {
    write: (latches) => JSON.stringify(Array.from(latches, ([name, { json }]) => [name, json])),
    read: (text) => {
      const latches: readonly (readonly [string, string])[] = JSON.parse(text);
      return new Map(latches.map(([name, json]) => [name, parseLatch(json)]));
    },
  },
};

const MEMBER_NAMES = Object.keys(MEMBERS).filter((name): name is MemberName => name in MEMBERS);

/** The parts that differ. Snapshots are written apart, as they refer to parts. */
export function changedParts(before: State, after: State): NamedPart[] {
  const write = <Name extends MemberName>(name: Name): NamedPart => [
    name,
    MEMBERS[name].write(after[name]),
  ];
  return [
    ...COLLECTIONS.flatMap((name) => [...changedRecords(name, before.store, after.store)]),
    ...MEMBER_NAMES.filter((name) => before[name] !== after[name]).map(write),
  ];
}

type NamedDefinition = readonly [name: string, definition: string];

interface SettingsJson extends Pick<Settings, 'byHand' | 'startedAt'> {
  readonly isStaging: boolean;
  readonly active?: readonly NamedDefinition[];
}

/** Leaves out the scenarios if they are those of the start. */
function writeSettings({ start, active, byHand, startedAt }: Settings): string {
  const sources = active.map(({ name, definition }) => [name, writeJson(definition)]);
  return JSON.stringify({
    isStaging: start.isStaging,
    byHand,
    startedAt,
    active: active === start.scenarios ? undefined : sources,
  });
}

async function readSettings(json: string, ownStart: Start): Promise<Settings> {
  const { isStaging, active, startedAt, byHand }: SettingsJson = JSON.parse(json);
  const start = setStaging(ownStart, isStaging);
  const scenarios = active?.map((source) => readScenario(source, start));
  return createSettings({
    byHand: readExactly(ASSUME, JSON.stringify(byHand)),
    startedAt,
    start,
    active: scenarios
      ? await loadBases(scenarios, NODE_PLATFORM, start.options.seed)
      : start.scenarios,
  });
}

/** Finds a scenario of the start, which may be a file here. Others are shipped or were sent. */
function readScenario([name, definition]: NamedDefinition, { scenarios }: Start): Scenario {
  const ofStart = scenarios.find(
    (scenario) => scenario.name === name && writeJson(scenario.definition) === definition,
  );
  return ofStart ?? readExactly(scenarioShape(name), definition);
}

function parseLatch(json: string): LatchRule {
  const reading = readAs(LATCH, parseInput(json));
  if (!reading.ok) throw new Error(`a latch cannot be read: ${json}`);
  return reading.value[1];
}
