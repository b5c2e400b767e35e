import { COLLECTIONS } from '../../core/contract/records.ts';
import { writeJson } from '../../core/json.ts';
import { parseLatch } from '../../core/sandbox/holds.ts';
import { createSettings, type Settings, type State } from '../../core/sandbox/state.ts';
import { loadBases, type Start } from '../../core/scenario/sandbox-start.ts';
import { type Scenario, scenarioShape } from '../../core/scenario/scenario-shape.ts';
import { ASSUME } from '../../core/scenario/settings-shapes.ts';
import { NODE_PLATFORM } from '../../server/node-platform.ts';
import {
  changedRecords,
  fieldOf,
  isOfStore,
  type KnownStore,
  type NamedPart,
  type ReadFields,
  readExactly,
  readStore,
  storeVersions,
  type Versions,
} from './store-parts.ts';

const SNAPSHOTS = 'snapshots';

/** What a server knows of a sandbox in Redis. Snapshots refer to parts, also to those that were replaced. */
export interface Known {
  readonly state: State;
  readonly versions: Versions;
  readonly snapshots: ReadonlyMap<string, KnownStore>;
}

/**
 * What a server knows once an update is kept, the parts that this writes, and the fields that nothing refers
 * to any more.
 *
 * @param isNew whether the sandbox begins, which its settings and clock tell
 */
export function writeParts(known: Known, after: State, version: number, isNew: boolean) {
  const { settings, clock } = known.state;
  const fresh = { ...known.state, settings: { ...settings }, clock: { ...clock } };
  const parts = changedParts(isNew ? fresh : known.state, after);
  const isSaved = after.snapshots !== known.state.snapshots;
  if (parts.length === 0 && !isSaved) return { next: { ...known, state: after }, parts, drops: [] };
  const versions = new Map(known.versions);
  for (const [part] of parts) versions.set(part, version);
  const saved = { store: after.store, versions: storeVersions(versions) };
  const snapshots = new Map(
    Array.from(after.snapshots, ([name, store]) => {
      const earlier = known.snapshots.get(name);
      return [name, earlier?.store === store ? earlier : saved];
    }),
  );
  if (isSaved) {
    const references = Array.from(snapshots, ([name, { versions: of }]) => [name, [...of]]);
    parts.push([SNAPSHOTS, JSON.stringify(references)]);
    versions.set(SNAPSHOTS, version);
  }
  const gone = [...known.snapshots].filter(([name, it]) => snapshots.get(name) !== it);
  const candidates = [known, ...gone.map(([, it]) => it)].flatMap((it) => [...it.versions]);
  const referring = [versions, ...Array.from(snapshots.values(), (it) => it.versions)];
  const drops = candidates.filter(([part, at]) => !referring.some((of) => of.get(part) === at));
  return { next: { state: after, versions, snapshots }, parts, drops: drops.map(fieldOf) };
}

/** @throws PartGoneError */
export async function readNewParts(
  { state, versions: before, snapshots }: Known,
  versions: Versions,
  read: ReadFields,
  start: Start,
): Promise<Known> {
  const store = await readStore({ store: state.store, versions: before }, versions, read, start);
  const next = { state: { ...state, store }, versions, snapshots };
  for (const part of new Set([...before.keys(), ...versions.keys()])) {
    const version = versions.get(part) ?? 0;
    if (version === before.get(part) || isOfStore(part)) continue;
    const field = fieldOf([part, version]);
    const text = (await read([field]))(field);
    const member = MEMBER_NAMES.find((name) => name === part);
    if (member !== undefined) {
      next.state = { ...next.state, [member]: await MEMBERS[member].read(text, start) };
    } else if (part === SNAPSHOTS) {
      const references: readonly (readonly [string, Iterable<[string, number]>])[] =
        JSON.parse(text);
      const restored = new Map<string, KnownStore>();
      for (const [name, of] of references) {
        const wanted = new Map(of);
        const base = snapshots.get(name) ?? { store, versions };
        restored.set(name, { store: await readStore(base, wanted, read, start), versions: wanted });
      }
      next.snapshots = restored;
      const stores = Array.from(restored, ([name, it]) => [name, it.store] as const);
      next.state = { ...next.state, snapshots: new Map(stores) };
    }
  }
  return next;
}

/** Each server remembers the past of its own calls. */
type MemberName = Exclude<keyof State, 'store' | 'snapshots' | 'past'>;

interface Codec<Value> {
  readonly write: (value: Value) => string;
  readonly read: (text: string, start: Start) => Value | Promise<Value>;
}

const isMap = (value: unknown) => value instanceof Map;

/** Of what is JSON, and maps. A server of this version has written it. */
const asJson = <Value>(): Codec<Value> => ({
  write: (value) => JSON.stringify(value, (_name, it) => (isMap(it) ? { entries: [...it] } : it)),
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

/** All but snapshots, which refer to parts. */
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

type ScenarioSource = readonly [name: string, definition: string];

interface SettingsJson extends Pick<Settings, 'byHand' | 'startedAt'> {
  readonly active?: readonly ScenarioSource[];
}

/** Its scenarios are left out while they are those of the start. */
function writeSettings({ start, active, byHand, startedAt }: Settings): string {
  const sources = active.map(({ name, definition }) => [name, writeJson(definition)]);
  return JSON.stringify({
    byHand,
    startedAt,
    active: active === start.scenarios ? undefined : sources,
  });
}

async function readSettings(json: string, start: Start): Promise<Settings> {
  const { active, startedAt, byHand }: SettingsJson = JSON.parse(json);
  const scenarios = active?.map((source) => readScenario(source, start));
  return createSettings({
    byHand: readExactly(ASSUME, JSON.stringify(byHand)),
    startedAt,
    start,
    active: scenarios ? await loadBases(scenarios, NODE_PLATFORM, start.seed) : start.scenarios,
  });
}

/** One of the start, which may come from a file here, or else one that ships or that a client has sent. */
function readScenario([name, definition]: ScenarioSource, { scenarios }: Start): Scenario {
  const ofStart = scenarios.find(
    (scenario) => scenario.name === name && writeJson(scenario.definition) === definition,
  );
  return ofStart ?? readExactly(scenarioShape(name), definition);
}
