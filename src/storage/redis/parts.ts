import { parseJson, writeJson } from '../../contract/json.ts';
import type { CollectionName } from '../../contract/records.ts';
import { type Exchange, MAX_BODY } from '../../sandbox/exchange.ts';
import { createSettings, type Settings, type State } from '../../sandbox/state.ts';
import type { OpenUpstream } from '../../sandbox/upstream.ts';
import { SCENARIO_SOURCE, scenarioFrom, sourceOf } from '../../scenario/load-scenario.ts';
import { loadBases, type Start } from '../../scenario/sandbox-start.ts';
import type { Scenario } from '../../scenario/scenario-shape.ts';
import type { RateWindow } from '../../service/keyring.ts';
import { RECORD_SHAPES } from '../../shape/record-shapes.ts';
import { list, readAs, type Shape } from '../../shape/shapes.ts';
import type { Records } from '../../store/sorted-records.ts';
import type { Store } from '../../store/store.ts';
import { recordText } from '../../store/store-text.ts';
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
  read: (text: string, context: RestoreContext, known: T) => T | Promise<T>,
): Part {
  return {
    isSame: (one, other) => get(one) === get(other),
    write: (state) => write(get(state)),
    restore: async (state, text, context) => {
      const isInitial = text === '';
      return set(state, isInitial ? get(context.initial) : await read(text, context, get(state)));
    },
  };
}

function collection<Name extends CollectionName>(name: Name): Part {
  return part<Store[Name]>(
    ({ store }) => store[name],
    (state, records) => ({ ...state, store: { ...state.store, [name]: records } }),
    recordsText,
    (text, _, known) => READ_RECORDS[name](text, known),
  );
}

type RecordsReader<Name extends CollectionName> = (text: string, known: Store[Name]) => Store[Name];

const READ_RECORDS: { readonly [Name in CollectionName]: RecordsReader<Name> } = {
  animals: recordsReader(RECORD_SHAPES.animals),
  inventory: recordsReader(RECORD_SHAPES.inventory),
  orders: recordsReader(RECORD_SHAPES.orders),
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

interface CountersJson extends Pick<State['counters'], 'retries'> {
  readonly rules: readonly (readonly [string, number])[];
  readonly rates: readonly (readonly [string, RateWindow])[];
}

/** The parts of a state, by their names in Redis. */
export const PARTS = {
  animals: collection('animals'),
  inventory: collection('inventory'),
  orders: collection('orders'),
  settings: member('settings', settingsText, readSettings),
  clock: member('clock', JSON.stringify, parse),
  counters: member(
    'counters',
    ({ rules, rates, retries }) =>
      JSON.stringify({ rules: [...rules], rates: [...rates], retries }),
    (json) => {
      const { rules, rates, retries } = parse<CountersJson>(json);
      return { rules: new Map(rules), rates: new Map(rates), retries };
    },
  ),
  snapshots: member(
    'snapshots',
    (snapshots) =>
      JSON.stringify(Array.from(snapshots, ([name, store]) => [name, storeTexts(store)])),
    (json, { start }) =>
      new Map(entries<StoreTexts>(json).map(([name, texts]) => [name, readStore(texts, start)])),
  ),
  scenarios: member(
    'scenarios',
    (scenarios) => JSON.stringify([...scenarios]),
    (json) => new Map(entries(json)),
  ),
  latches: member(
    'latches',
    (latches) => JSON.stringify(Array.from(latches, ([name, { json }]) => [name, json])),
    async (json) => {
      // Imported here: it loads the reader of scenarios.
      const { parseLatch } = await import('../../sandbox/latches.ts');
      return new Map(entries<string>(json).map(([name, text]) => [name, parseLatch(text)]));
    },
  ),
} as const satisfies Record<string, Part>;

function entries<T>(json: string): readonly (readonly [string, T])[] {
  return parse(json);
}

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

/** The texts of records: a write of a collection needs those of all that did not change, too. */
const recordTexts = new WeakMap<object, string>();

function textOf(record: object): string {
  const text = recordTexts.get(record) ?? recordText(record);
  recordTexts.set(record, text);
  return text;
}

/** A line with the highest id ever used, and one for each record. */
function recordsText(records: Pick<Records<object>, 'highestId' | 'ascending'>): string {
  const { highestId = NEVER } = records;
  return [highestId, ...Array.from(records.ascending(), textOf)].join('\n');
}

const NEVER = 'never';

/** Reads only the records that changed since those that the server knows. */
function recordsReader<R extends object>(shape: Shape<R>) {
  return (text: string, known: Records<R>): Records<R> => {
    const { idOf } = known;
    const [highestId = '', ...lines] = text.split('\n');
    const set: R[] = [];
    const remove: bigint[] = [];
    const all = known.ascending();
    let other = all.next();
    for (const line of lines) {
      if (!other.done && textOf(other.value) === line) {
        other = all.next();
        continue;
      }
      const record = exact(shape, line);
      for (; !other.done && idOf(other.value) <= idOf(record); other = all.next()) {
        if (idOf(other.value) < idOf(record)) remove.push(idOf(other.value));
      }
      set.push(record);
    }
    for (; !other.done; other = all.next()) remove.push(idOf(other.value));
    const others = remove.length === 0 ? known : known.without(remove);
    return others.withAll(set).withHighestId(highestId === NEVER ? undefined : BigInt(highestId));
  };
}

type StoreTexts = readonly string[];

function storeTexts({ animals, inventory, orders }: Store): StoreTexts {
  return [recordsText(animals), recordsText(inventory), recordsText(orders)];
}

function readStore(
  [animals = '', inventory = '', orders = '']: StoreTexts,
  { store }: Start,
): Store {
  return {
    animals: READ_RECORDS.animals(animals, store.animals),
    inventory: READ_RECORDS.inventory(inventory, store.inventory),
    orders: READ_RECORDS.orders(orders, store.orders),
  };
}

/** Its scenarios are left out while they are those of the start. */
function settingsText({ start, active, byHand, startedAt, upstream }: Settings): string {
  return JSON.stringify({
    byHand,
    startedAt,
    upstream: upstream && { url: upstream.url, key: upstream.key },
    active: active === start.scenarios ? undefined : writeJson(active.map(sourceOf)),
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
  return createSettings({
    ...rest,
    start,
    active: active === undefined ? start.scenarios : await readScenarios(active, start.seed),
    upstream: upstream && (await openUpstream(new URL(upstream.url), upstream.key)),
  });
}

async function readScenarios(json: string, seed: number): Promise<readonly Scenario[]> {
  const sources = exact(list(SCENARIO_SOURCE), json);
  return loadBases(sources.map(scenarioFrom), seed);
}

type BodyJson = string | { readonly latin1: string } | null;

/** The texts of bodies that several exchanges show. */
const bodyTexts = new WeakMap<Buffer, string>();

function bodyText(body: Exchange['request']['body'], size: number): string {
  if (body === undefined || size > MAX_BODY) return 'null';
  if (typeof body === 'string') return JSON.stringify(body);
  const text = bodyTexts.get(body) ?? JSON.stringify({ latin1: body.toString('latin1') });
  bodyTexts.set(body, text);
  return text;
}

function readBody(body: BodyJson): string | Buffer | undefined {
  if (body === null || typeof body === 'string') return body ?? undefined;
  return Buffer.from(body.latin1, 'latin1');
}

/** An exchange as JSON: on the first line all but its bodies, on a second one these, if it has any. */
export function exchangeText(exchange: Exchange): string {
  const { request, reply } = exchange;
  const text = JSON.stringify({
    ...exchange,
    request: { ...request, body: undefined },
    reply: reply && { ...reply, body: undefined },
  });
  const bodies = [bodyText(request.body, request.size), bodyText(reply?.body, reply?.size ?? 0)];
  return bodies.every((body) => body === 'null') ? text : `${text}\n[${bodies}]`;
}

export function readExchange(text: string, number: number): Exchange {
  const [head = '', bodies = '[null,null]'] = text.split('\n');
  const exchange = parse<Exchange>(head);
  const [requestBody, replyBody] = parse<readonly [BodyJson, BodyJson]>(bodies);
  const { request, reply } = exchange;
  return {
    ...exchange,
    number,
    request: { ...request, body: readBody(requestBody) },
    reply: reply && { ...reply, body: readBody(replyBody) },
  };
}
