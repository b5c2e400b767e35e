import { parseJson, writeJson } from '../contract/json.ts';
import { evidenceValue } from '../evidence/evidence-shapes.ts';
import type { Start, Starter } from '../scenario/sandbox-start.ts';
import { scenarioFrom, sourceOf } from '../scenario/scenario-source.ts';
import { readAs } from '../shape/read-as.ts';
import type { Shape } from '../shape/shapes.ts';
import { RecordedStore, storeDifference } from '../store/log/recorded-store.ts';
import type { LogTexts } from '../store/log/redis-log.ts';
import type { StoreChange } from '../store/log/store-change.ts';
import { storeChangeText, writingStoreChange } from '../store/log/store-change-text.ts';
import type { Store } from '../store/store.ts';
import { problemText } from '../words.ts';
import { inTurns, type Work } from '../work.ts';
import type { Change, SandboxSnapshot, SettingsChange } from './change.ts';
import {
  EXACT_CHANGE,
  EXACT_SNAPSHOT,
  PLAIN_CHANGE,
  PLAIN_SNAPSHOT,
  type StartName,
  type UpstreamName,
} from './change-shapes.ts';
import type { OpenUpstream, Upstream } from './upstream.ts';

/** What a server has to load, since texts only name it. */
export interface Loading {
  /** What a reset of the sandbox returns to. */
  readonly origin: Start;
  /** Makes a start of the sandbox. */
  readonly starter: Starter;
  readonly openUpstream: OpenUpstream;
}

/**
 * Writes the changes and snapshots of one sandbox, and reads those of other servers. A text has two
 * lines of JSON: only the second holds int64, whose exact parser is slow.
 */
export class SandboxTexts implements LogTexts<Change, SandboxSnapshot> {
  readonly #loading: Loading;

  constructor(loading: Loading) {
    this.#loading = loading;
  }

  writeEntry({ store, settings = {}, counts, exchange, ...added }: Change): string {
    const { start, upstream, ...others } = settings;
    const plain = {
      ...others,
      upstream: upstream && nameOf(upstream.is),
      counts,
      exchange: exchange && evidenceValue(exchange),
      ...added,
    };
    const exact = [
      ...(store === undefined ? [] : [`"store":${storeChangeText(store)}`]),
      ...(start === undefined ? [] : [`"start":${this.#startText(start)}`]),
    ];
    return `${JSON.stringify(plain)}\n{${exact.join()}}`;
  }

  /** @throws Error if this server cannot make the change */
  async readEntry(text: string): Promise<Change> {
    const [first, second] = linesOf(text);
    const { counts, exchange, cleared, past, upstream, ...others } = read(PLAIN_CHANGE, first);
    const { store, start } = read(EXACT_CHANGE, second, parseJson);
    const settings: SettingsChange = {
      ...others,
      ...(start && { start: await this.#startFrom(start) }),
      ...(upstream && { upstream: { is: await this.#open(upstream) } }),
    };
    const isSet = Object.keys(settings).length > 0;
    return { store, settings: isSet ? settings : undefined, counts, exchange, cleared, past };
  }

  /** Writes in turns with requests: a snapshot can hold any number of records. */
  writeSnapshot(snapshot: SandboxSnapshot): Promise<string> {
    return inTurns(this.#writing(snapshot));
  }

  *#writing({ store, state }: SandboxSnapshot): Work<string> {
    if (state === undefined) throw new Error('The snapshot has only records.');
    const { settings, snapshots, ...rest } = state;
    const { start, upstream, ...others } = settings;
    const plain = JSON.stringify({ ...others, ...rest, upstream: nameOf(upstream.is) });
    const from = this.#storeOf(start);
    const stores: string[] = [];
    for (const [name, its] of snapshots) {
      stores.push(
        `{"name":${JSON.stringify(name)},"store":${yield* writingDifference(from, its)}}`,
      );
    }
    const exact = `"store":${yield* writingDifference(from, store)},"start":${this.#startText(start)}`;
    return `${plain}\n{${exact},"snapshots":[${stores.join()}]}`;
  }

  /** @throws Error if this server cannot restore the snapshot */
  async readSnapshot(text: string): Promise<SandboxSnapshot> {
    const [first, second] = linesOf(text);
    const { counts, evidence, past, upstream, ...others } = read(PLAIN_SNAPSHOT, first);
    const { store, start: named, snapshots } = read(EXACT_SNAPSHOT, second, parseJson);
    const start = await this.#startFrom(named);
    const settings = { ...others, start, upstream: { is: await this.#open(upstream) } };
    const from = this.#storeOf(start);
    const stores = snapshots.map(({ name, store: its }) => [name, changed(from, its)] as const);
    const state = { settings, counts, snapshots: new Map(stores), evidence, past };
    return { store: changed(from, store), state };
  }

  /** Whether the journal needs an entry for some time: whether it is an exchange. */
  isLasting({ exchange }: Change): boolean {
    return exchange !== undefined;
  }

  #startText(start: Start | 'origin'): string {
    if (start === 'origin') return '{}';
    const { scenarios } = this.#loading.origin;
    return writeJson({ scenarios: start.scenarios.map((it) => sourceOf(it, scenarios)) });
  }

  async #startFrom({ scenarios: sources }: StartName): Promise<Start | 'origin'> {
    if (sources === undefined) return 'origin';
    const { origin, starter } = this.#loading;
    return starter(
      await Promise.all(sources.map((source) => scenarioFrom(source, origin.scenarios))),
    );
  }

  async #open({ url, key }: UpstreamName): Promise<Upstream | undefined> {
    return url === undefined ? undefined : this.#loading.openUpstream(new URL(url), key);
  }

  /** The records that a snapshot is written as a difference from. */
  #storeOf(start: Start | 'origin'): Store {
    return (start === 'origin' ? this.#loading.origin : start).store;
  }
}

function writingDifference(from: Store, to: Store): Work<string> {
  return writingStoreChange(storeDifference(from, to));
}

function changed(from: Store, difference: StoreChange): Store {
  const store = new RecordedStore(from, from);
  store.apply(difference);
  return store;
}

function nameOf(upstream: Upstream | undefined): UpstreamName {
  return upstream === undefined ? {} : { url: upstream.url, key: upstream.key };
}

function linesOf(text: string): readonly [string, string] {
  const end = text.indexOf('\n');
  return [text.slice(0, end), text.slice(end + 1)];
}

function read<T>(shape: Shape<T>, json: string, parse = JSON.parse): T {
  const reading = readAs(shape, parse(json));
  if (reading.ok) return reading.value;
  const [problem] = reading.problems;
  throw new Error(`a change of another server cannot be read: ${problem && problemText(problem)}`);
}
