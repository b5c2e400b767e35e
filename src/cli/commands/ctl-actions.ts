import { extname } from 'node:path';
import { type AnyRecord, type Field, STORED_RECORDS } from '../../contract/records.ts';
import type {
  AssumptionState,
  ClockState,
  Coverage,
  Findings,
  JournalPage,
  SandboxSummary,
  ScenarioSummary,
  Snapshot,
} from '../../control/control-shapes.ts';
import type { HeldReply, ReleaseResult } from '../../control/journal/hold-endpoints.ts';
import type { Alternative, Undone } from '../../control/journal/time-travel-endpoints.ts';
import { type ControlClient, searchOf } from '../../library/control-client.ts';
import { rowNames } from '../../tables.ts';
import { countText, describe } from '../../words.ts';
import { parseChoice, readTextFile, refusal, UsageError } from '../command.ts';
import { ANY, NOTHING, type Words } from '../command-table.ts';
import type { FlagName, Flags } from '../flags.ts';
import { changeRecord, fieldValue, readCollection, recordPath } from './ctl-records.ts';
import { createTable, exchangeRow, parseAssignments, type Result } from './ctl-tables.ts';

interface Action {
  readonly takes: Words;
  readonly flags?: readonly FlagName[];
  /** Whether it is about the server rather than one sandbox. */
  readonly ofServer?: true;
  readonly summary: string;
  readonly run: (client: ControlClient, words: readonly string[], flags: Flags) => Promise<Result>;
}

/** Exchanges that `requests` prints unless `limit` says otherwise. */
const MAX_EXCHANGES = 20;

/** Records that `get` prints unless `_limit` says otherwise: a store can have a million. */
const MAX_RECORDS = 100;

const ACTIONS = {
  use: {
    takes: ['[SCENARIO…]', 0, ANY],
    flags: ['none'],
    summary: 'Activate these scenarios instead of the active ones, or list them.',
    async run(client, scenarios, { none = false }) {
      if (none && scenarios.length > 0) throw new UsageError('ctl use: --none takes no scenarios');
      const changes = none || scenarios.length > 0;
      if (changes) await client.call('PUT', '/scenario', { scenarios });
      const all = await client.call<readonly ScenarioSummary[]>('GET', '/scenarios');
      const listed = changes ? all.filter((it) => it.active !== undefined) : all;
      return createTable(listed, 'active', 'name', 'description');
    },
  },
  save: {
    takes: ['NAME FILE', 2, 2],
    summary: 'Save a scenario of your own in the sandbox, for `use`.',
    async run(client, [name = '', file = '']) {
      const text = await readTextFile(file, 'ctl save', 'a scenario file');
      const format = extname(file).toLowerCase() === '.json' ? 'json' : 'yaml';
      const body = new Blob([text], { type: `application/${format}` });
      await client.call('PUT', `/scenarios/${encodeURIComponent(name)}`, body);
      return { text: `saved ${name}\n` };
    },
  },
  reset: {
    takes: NOTHING,
    flags: ['keep'],
    summary: 'Put the sandbox back to how it started.',
    async run(client, _words, { keep }) {
      await client.call('POST', '/reset', { keep });
      return { text: 'reset\n' };
    },
  },
  ship: {
    takes: ['ORDER', 1, 1],
    summary: 'Mark an order as shipped.',
    run: (client, [id]) => changeRecord(client, 'orders', id, { status: 'shipped' }),
  },
  cancel: {
    takes: ['ORDER', 1, 1],
    summary: 'Mark an order as cancelled.',
    run: (client, [id]) => changeRecord(client, 'orders', id, { status: 'cancelled' }),
  },
  get: {
    takes: ['animals|inventory|orders [ID | FIELD=VALUE…]', 1, ANY],
    summary: 'Print records: all, one, or those that match the filters of the control API.',
    async run(client, [name, ...words]) {
      const collection = readCollection('ctl get', name);
      const [id] = words;
      if (words.length === 1 && id !== undefined && !id.includes('=')) {
        const record = await client.call<AnyRecord>('GET', recordPath(collection, id));
        return { rows: [record], json: record };
      }
      const query = { _limit: MAX_RECORDS, ...parseAssignments(words) };
      const path = `/${collection}`;
      const records = await client.call<readonly AnyRecord[]>('GET', path + searchOf(query));
      const total = await client.count(path + searchOf({ ...query, _limit: 0 }));
      const isPart = total > records.length;
      const text = isPart ? `${records.length} of ${total}; _limit=N shows more\n` : '';
      return { rows: records, text, json: records };
    },
  },
  set: {
    takes: ['animals|inventory|orders ID FIELD=VALUE…', 3, ANY],
    summary: 'Change fields of a record; null removes an optional one.',
    run(client, [name, id, ...words]) {
      const collection = readCollection('ctl set', name);
      const fields: Readonly<Record<string, Field>> = STORED_RECORDS[collection];
      const changes = Object.entries(parseAssignments(words)).map(([field, text]) => {
        return [field, fieldValue(fields[field], text)];
      });
      return changeRecord(client, collection, id, Object.fromEntries(changes));
    },
  },
  assume: {
    takes: ['[ID=OPTION…]', 0, ANY],
    summary: 'Choose options of assumptions, or list those that differ from the default.',
    async run(client, words) {
      const options = parseAssignments(words);
      if (words.length > 0) await client.call('PATCH', '/assumptions', options);
      const all = await client.call<readonly AssumptionState[]>('GET', '/assumptions');
      const changed = all.filter((it) => it.chosen !== it.default);
      return createTable(changed, 'id', 'chosen', 'default', 'question');
    },
  },
  clock: {
    takes: ['[INSTANT | +DURATION | real]', 0, 1],
    flags: ['frozen'],
    summary: 'Set the clock, move it, freeze it, or show it.',
    async run(client, [to = ''], { frozen }) {
      if (!/^(?:|real|\+-?P.*|\d{4}-.*)$/i.test(to)) {
        const expected = 'an instant, +DURATION such as +P30D, or real';
        throw refusal('ctl clock', expected, describe(to) + durationHint(to));
      }
      if (to.startsWith('+')) await client.call('POST', '/clock/advance', { by: to.slice(1) });
      const setting = {
        ...(/^\d/.test(to) && { now: to }),
        ...(to === 'real' && { real: true }),
        ...(frozen !== undefined && { frozen }),
      };
      if (Object.keys(setting).length > 0) await client.call('PUT', '/clock', setting);
      const clock = await client.call<ClockState>('GET', '/clock');
      const state = clock.frozen ? ', frozen' : clock.real ? ', real time' : '';
      return { text: `${clock.now}${state}\n`, json: clock };
    },
  },
  requests: {
    takes: ['[FILTER=VALUE…]', 0, ANY],
    flags: ['follow'],
    summary: 'Print the latest exchanges, or follow them with --follow.',
    async run(client, words) {
      const path = `/requests${searchOf({ limit: MAX_EXCHANGES, ...parseAssignments(words) })}`;
      const { exchanges } = await client.call<JournalPage>('GET', path);
      return { rows: exchanges.map(exchangeRow), json: exchanges };
    },
  },
  whatif: {
    takes: ['EXCHANGE', 1, 1],
    summary: 'List what the real service might have answered instead.',
    async run(client, [number = '']) {
      const list = await client.call<readonly Alternative[]>(
        'GET',
        exchangePath(number, 'alternatives'),
      );
      return createTable(list, 'assumption', 'option', 'status', 'meaning');
    },
  },
  rewind: {
    takes: ['EXCHANGE [before|after]', 1, 2],
    summary: 'Put the sandbox back to how a call found or left it.',
    async run(client, [number = '', to = 'before']) {
      const side = parseChoice(['before', 'after'], to, 'ctl rewind');
      await client.call('POST', exchangePath(number, 'rewind'), { to: side });
      return { text: `rewound to ${side} call ${number}\n` };
    },
  },
  undo: {
    takes: NOTHING,
    summary: 'Take back the latest change by ctl, the page or a test.',
    async run(client) {
      const json = await client.call<Undone>('POST', '/undo');
      const { what, laterCalls } = json;
      const calls = countText(laterCalls, 'later call');
      const also = laterCalls === 0 ? '' : `, and with it what ${calls} had changed`;
      return { text: `took back: ${what}${also}\n`, json };
    },
  },
  holds: {
    takes: NOTHING,
    summary: 'List the replies that rules hold back.',
    run: async (client) => createHoldTable(await client.call('GET', '/holds')),
  },
  release: {
    takes: ['[NAME] [WHICH=VALUE…]', 0, ANY],
    summary: 'Release replies: all, those of a hold, count=N, newestFirst=true, exchanges=N,N.',
    async run(client, words) {
      const [name] = words.filter((word) => !word.includes('='));
      const which = Object.entries(parseAssignments(words.filter((word) => word !== name)));
      const options = which.map(([member, text]) => {
        if (member === 'exchanges') return [member, text.split(',').map(Number)];
        return [member, /^(?:\d+|true|false)$/.test(text) ? JSON.parse(text) : text];
      });
      const body = { name, ...Object.fromEntries(options) };
      const released = await client.call<ReleaseResult>('POST', '/holds/release', body);
      return { ...createHoldTable(released.released), json: released };
    },
  },
  coverage: {
    takes: NOTHING,
    summary: 'Print how often each documented reply was shown.',
    async run(client) {
      const json = await client.call<Coverage>('GET', '/coverage');
      const { shown, total, percent } = json.totals.documented;
      const text = `${shown} of ${total} documented replies (${percent}%)\n`;
      const table = createTable(json.documented, 'count', 'operation', 'status', 'description');
      return { ...table, text, json };
    },
  },
  findings: {
    takes: NOTHING,
    summary: 'Print what the client should not do against the real service.',
    async run(client) {
      const json = await client.call<Findings>('GET', '/findings');
      return { ...createTable(json.findings, 'exchange', 'code', 'message'), json };
    },
  },
  sandboxes: {
    takes: ['[FILTER=VALUE…]', 0, ANY],
    ofServer: true,
    summary: 'List the sandboxes: all, or those that match the filters of the control API.',
    async run(client, words) {
      const path = `/sandboxes${searchOf(parseAssignments(words))}`;
      const list = await client.call<readonly SandboxSummary[]>('GET', path);
      const sizes = ['animals', 'inventory', 'orders'] as const;
      return createTable(list, 'name', 'lastUsed', ...sizes, 'requests', 'findings', 'service');
    },
  },
  snapshot: {
    takes: ['[NAME]', 0, 1],
    summary: 'Keep a copy of the store, or list the copies.',
    async run(client, [name]) {
      if (name !== undefined) await client.call('POST', '/snapshots', { name });
      const all = await client.call<readonly Snapshot[]>('GET', '/snapshots');
      const listed = name === undefined ? all : all.filter((it) => it.name === name);
      return createTable(listed, 'name', 'animals', 'inventory', 'orders');
    },
  },
  restore: {
    takes: ['NAME', 1, 1],
    summary: 'Bring back the store of a snapshot.',
    async run(client, [name = '']) {
      await client.call('POST', `/snapshots/${encodeURIComponent(name)}/restore`);
      return { text: `restored ${name}\n` };
    },
  },
} as const satisfies Record<string, Action>;

/** A hint for a duration as people write it, such as 90m or 2d. */
function durationHint(text: string): string {
  const [, count, unit = ''] = /^\+?(\d+)([smhdw])$/i.exec(text) ?? [];
  if (count === undefined) return '';
  return ` (did you mean +P${/[dw]/i.test(unit) ? '' : 'T'}${count}${unit.toUpperCase()}?)`;
}

function createHoldTable(held: readonly HeldReply[]): Result {
  return createTable(held, 'exchange', 'name', 'method', 'target', 'since');
}

function exchangePath(number: string, what: string): string {
  return `/requests/${encodeURIComponent(number)}/${what}`;
}

export type ActionName = keyof typeof ACTIONS;

export const ACTION_NAMES = rowNames(ACTIONS);

export function actionShape(name: ActionName): Action {
  return ACTIONS[name];
}

export function actionLines(): string {
  const rows = ACTION_NAMES.map((name) => {
    const { takes, summary } = actionShape(name);
    return `- ${`${name} ${takes[0]}`.trimEnd()}: ${summary}`;
  });
  return ['Actions:', ...rows].join('\n');
}
