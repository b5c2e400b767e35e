import { parseJson, writeJson } from '../../contract/json.ts';
import { apply, type Change, diff, mapValues } from '../../sandbox/change.ts';
import { initialState, type SandboxSettings, withChoices } from '../../sandbox/state.ts';
import type { LogEntry, Opening, SandboxSnapshot } from '../../sandbox/storage.ts';
import type { OpenUpstream } from '../../sandbox/upstream.ts';
import { SCENARIO_SOURCE, scenarioFrom, sourceOf } from '../../scenario/load-scenario.ts';
import type { Start, Starter } from '../../scenario/sandbox-start.ts';
import { list, readAs, type Shape } from '../../shape/shapes.ts';
import { STORE_CHANGE, type StoreChange } from '../../store/store.ts';
import { problemText } from '../../words.ts';

/** What a server loads, since texts only name it, and the sandbox that it is for. */
export interface RestoreContext extends Pick<Opening, 'origin' | 'ownStart'> {
  readonly starter: Starter;
  readonly openUpstream: OpenUpstream;
}

type ChangeJson = ReturnType<typeof changeJson>;
type WithChangeJson<T> = Omit<T, 'change'> & { readonly change?: ChangeJson | undefined };

/** Writes and reads the texts of a sandbox. Reading throws if this server cannot make a change. */
export function textsOf(context: RestoreContext) {
  const { origin } = context;
  return {
    entriesText(entries: readonly LogEntry[]): string {
      const written = entries.map(({ change, ...rest }): WithChangeJson<LogEntry> => {
        return { change: change && changeJson(change, origin), ...rest };
      });
      return JSON.stringify(written);
    },

    async readEntries(texts: readonly string[]): Promise<readonly LogEntry[]> {
      const entries: LogEntry[] = [];
      const all = texts.flatMap((text) => parse<readonly WithChangeJson<LogEntry>[]>(text));
      for (const { change, ...rest } of all) {
        entries.push({ change: change && (await changeFrom(change, context)), ...rest });
      }
      return entries;
    },

    /** The state is written as a difference from that of a new sandbox with its start. */
    snapshotText({ state, evidence }: SandboxSnapshot): string {
      const change = diff(initialState(state.settings.start, undefined, 0), state) ?? {};
      return JSON.stringify({ change: changeJson(change, origin), evidence });
    },

    async readSnapshot(text: string): Promise<SandboxSnapshot> {
      const { change, evidence } = parse<WithChangeJson<Pick<SandboxSnapshot, 'evidence'>>>(text);
      const read = change === undefined ? {} : await changeFrom(change, context);
      const start = read.settings?.start ?? origin;
      return { state: apply(initialState(start, undefined, 0), read), evidence };
    },
  };
}

/** Only a server of the same version has written it: the settings of a fleet say so. */
function parse<T>(text: string): T {
  return JSON.parse(text);
}

function changeJson({ store, settings, snapshots, latches, ...rest }: Change, origin: Start) {
  return {
    store: store && writeJson(store),
    settings: settings && settingsJson(settings, origin),
    snapshots: mapValues(snapshots, (it) => writeJson(it)),
    latches: mapValues(latches, ({ json }) => json),
    ...rest,
  };
}

async function changeFrom(
  { store, settings, snapshots, latches, ...rest }: ChangeJson,
  context: RestoreContext,
): Promise<Change> {
  return {
    store: store === undefined ? undefined : storeFrom(store),
    settings: settings && (await settingsFrom(settings, context)),
    snapshots: mapValues(snapshots, storeFrom),
    // Imported here: it loads the reader of scenarios.
    latches: latches && mapValues(latches, (await import('../../sandbox/latches.ts')).latchFrom),
    ...rest,
  };
}

/** Exact JSON is read apart: its parser is slow, and most entries are exchanges, which need none. */
function storeFrom(json: string): StoreChange {
  return exact(STORE_CHANGE, json);
}

function settingsJson({ start, startedAt, choices, upstream }: SandboxSettings, origin: Start) {
  const sources = start.scenarios.map(sourceOf);
  return {
    startedAt,
    choices,
    upstream: upstream && { url: upstream.url, key: upstream.key },
    scenarios: start === origin ? undefined : writeJson(sources),
  };
}

async function settingsFrom(
  { startedAt, choices, upstream, scenarios }: ReturnType<typeof settingsJson>,
  { origin, ownStart, starter, openUpstream }: RestoreContext,
): Promise<SandboxSettings> {
  const restored = upstream && (await openUpstream(new URL(upstream.url), upstream.key));
  const settings = { start: origin, startedAt, upstream: restored };
  if (scenarios === undefined) return withChoices(settings, choices);
  const sources = exact(list(SCENARIO_SOURCE), scenarios);
  return withChoices(
    { ...settings, start: ownStart(await starter(sources.map(scenarioFrom))) },
    choices,
  );
}

function exact<T>(shape: Shape<T>, json: string): T {
  const reading = readAs(shape, parseJson(json));
  if (reading.ok) return reading.value;
  const [problem] = reading.problems;
  throw new Error(`a change of another server cannot be read: ${problem && problemText(problem)}`);
}
