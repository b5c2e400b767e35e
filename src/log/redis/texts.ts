import { parseJson, writeJson } from '../../contract/json.ts';
import { apply, type Change, diff } from '../../sandbox/change.ts';
import type { Entry, Snapshot } from '../../sandbox/keeper.ts';
import { initialState, type Settings, withChoices } from '../../sandbox/state.ts';
import type { OpenUpstream, Upstream } from '../../sandbox/upstream.ts';
import type { Start, Starter } from '../../scenario/sandbox-start.ts';
import { SCENARIO_SOURCE, scenarioFrom, sourceOf } from '../../scenario/scenario-source.ts';
import { readAs } from '../../shape/read-as.ts';
import { list, type Shape } from '../../shape/shapes.ts';
import type { StoreChange } from '../../store/store.ts';
import { problemText } from '../../words.ts';
import { STORE_CHANGE, storeChangeText } from '../change-text.ts';

/** What a server has to load, since texts only name it. */
export interface Loading {
  /** What a reset of the sandbox returns to. */
  readonly origin: Start;
  /** Makes a start of the sandbox. */
  readonly starter: Starter;
  readonly openUpstream: OpenUpstream;
}

/**
 * JSON that may hold an int64, as a text within a text: its parser is slow, and most entries are
 * exchanges, which have none.
 */
type ExactJson = string;

interface WrittenSettings extends Pick<Settings, 'startedAt' | 'choices'> {
  readonly upstream?: Pick<Upstream, 'url' | 'key'> | undefined;
  /** The sources of the scenarios of the start; undefined for the origin. */
  readonly scenarios?: ExactJson | undefined;
}

interface WrittenChange extends Pick<Change, 'clock' | 'rules' | 'rates' | 'scenarios'> {
  /** The rules of latches by name, as JSON. */
  readonly latches?: {
    readonly remove: readonly string[];
    readonly set: readonly (readonly [name: string, json: ExactJson])[];
  };
  readonly store?: ExactJson | undefined;
  readonly settings?: WrittenSettings | undefined;
  readonly snapshots?: readonly { readonly name: string; readonly store?: ExactJson }[] | undefined;
}

type WrittenSnapshot = Pick<Snapshot, 'evidence'> & { readonly change: WrittenChange };
type WrittenEntry = Omit<Entry, 'change'> & { readonly change?: WrittenChange | undefined };

export function writeEntries(entries: readonly Entry[], loading: Loading): string {
  const written = entries.map(({ change, ...rest }): WrittenEntry => {
    return { change: change && changeFor(change, loading), ...rest };
  });
  return JSON.stringify(written);
}

/** @throws Error if this server cannot make a change */
export async function readEntries(text: string, loading: Loading): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for (const { change, ...rest } of parse<readonly WrittenEntry[]>(text)) {
    entries.push({ change: change && (await changeFrom(change, loading)), ...rest });
  }
  return entries;
}

/** The state is written as a difference from that of a new sandbox with its start. */
export function writeSnapshot({ state, evidence }: Snapshot, loading: Loading): string {
  const change = diff(initialState(state.settings.start, undefined, 0), state) ?? {};
  const written: WrittenSnapshot = { change: changeFor(change, loading), evidence };
  return JSON.stringify(written);
}

/** @throws Error if this server cannot restore the snapshot */
export async function readSnapshot(text: string, loading: Loading): Promise<Snapshot> {
  const { change, evidence } = parse<WrittenSnapshot>(text);
  const read = await changeFrom(change, loading);
  const start = read.settings?.start ?? loading.origin;
  return { state: apply(initialState(start, undefined, 0), read), evidence };
}

/** Only a server of the same version has written it: the terms of a fleet say so. */
function parse<T>(text: string): T {
  return JSON.parse(text);
}

function changeFor(
  { store, settings, snapshots, latches, ...rest }: Change,
  loading: Loading,
): WrittenChange {
  return {
    ...rest,
    ...writtenStore(store),
    settings: settings && settingsFor(settings, loading),
    snapshots: snapshots?.map((it) => ({ name: it.name, ...writtenStore(it.store) })),
    ...(latches && {
      latches: { ...latches, set: latches.set.map(([name, { json }]) => [name, json]) },
    }),
  };
}

async function changeFrom(change: WrittenChange, loading: Loading): Promise<Change> {
  const { store, settings, clock, snapshots, latches, ...rest } = change;
  return {
    ...rest,
    store: storeFrom(store),
    settings: settings && (await settingsFrom(settings, loading)),
    clock: clock && { ahead: clock.ahead, frozenAt: clock.frozenAt },
    snapshots: snapshots?.map((it) => ({ name: it.name, store: storeFrom(it.store) })),
    latches: latches && (await latchesFrom(latches)),
  };
}

async function latchesFrom({ remove, set }: NonNullable<WrittenChange['latches']>) {
  // Imported here: it loads the reader of scenarios.
  const { latchFrom } = await import('../../sandbox/read-latch.ts');
  return { remove, set: set.map(([name, json]) => [name, latchFrom(json)] as const) };
}

function writtenStore(store: StoreChange | undefined): { readonly store?: ExactJson } {
  return store === undefined ? {} : { store: storeChangeText(store) };
}

function storeFrom(json: ExactJson | undefined): StoreChange | undefined {
  return json === undefined ? undefined : exact(STORE_CHANGE, json);
}

function settingsFor(
  { start, startedAt, choices, upstream }: Settings,
  { origin }: Loading,
): WrittenSettings {
  const sources = start.scenarios.map((scenario) => sourceOf(scenario, origin.scenarios));
  return {
    startedAt,
    choices,
    upstream: upstream && { url: upstream.url, key: upstream.key },
    scenarios: start === origin ? undefined : writeJson(sources),
  };
}

async function settingsFrom(
  { startedAt, choices, upstream, scenarios }: WrittenSettings,
  { origin, starter, openUpstream }: Loading,
): Promise<Settings> {
  const sources = scenarios === undefined ? undefined : exact(list(SCENARIO_SOURCE), scenarios);
  const loaded = sources?.map((source) => scenarioFrom(source, origin.scenarios));
  const start = loaded === undefined ? origin : await starter(await Promise.all(loaded));
  const opened = upstream && (await openUpstream(new URL(upstream.url), upstream.key));
  return withChoices({ start, startedAt, upstream: opened }, choices);
}

function exact<T>(shape: Shape<T>, json: ExactJson): T {
  const reading = readAs(shape, parseJson(json));
  if (reading.ok) return reading.value;
  const [problem] = reading.problems;
  throw new Error(`a change of another server cannot be read: ${problem && problemText(problem)}`);
}
