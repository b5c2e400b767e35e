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
import { type ControlClient, queryOf } from '../../library/control-client.ts';
import { countText, describe } from '../../words.ts';
import { oneOf, refusal, UsageError } from '../command.ts';
import type { FlagName, Flags } from '../flags.ts';
import {
  assignmentsOf,
  changeOrder,
  done,
  exchangeTable,
  getRecords,
  type Result,
  saveScenario,
  setFields,
  tableOf,
} from './ctl-records.ts';

/** Something that `ctl` does with a server. */
export interface Action {
  /** The words after its name, as the help shows them. */
  readonly takes: string;
  /** The least and the most words after its name. */
  readonly count: readonly [least: number, most: number];
  /** Flags that only some actions take. */
  readonly flags?: readonly FlagName[];
  /** Whether it is about the server rather than one sandbox. */
  readonly ofServer?: true;
  /** A line of the help, in the imperative. */
  readonly summary: string;
  readonly run: (client: ControlClient, words: readonly string[], flags: Flags) => Promise<Result>;
}

/** A hint for a duration without the letters of ISO 8601, such as `+30d` or `2h`. */
function meantDuration(text: string): string {
  const [, sign = '', days, hours] = /^\+?(-?)(?:(\d+[wd])|((?:\d+[hms])+))$/i.exec(text) ?? [];
  const duration = days ?? (hours && `T${hours}`);
  return duration === undefined ? '' : ` (did you mean +${sign}P${duration.toUpperCase()}?)`;
}

/** Exchanges that `requests` prints unless `limit` says otherwise. */
const LATEST = 20;

const NONE = [0, 0] as const;
const ONE = [1, 1] as const;
const ANY = [0, Number.POSITIVE_INFINITY] as const;

/** The actions in the order of the help. */
const ACTIONS = {
  use: {
    takes: '[SCENARIO…]',
    count: ANY,
    flags: ['none'],
    summary: 'Activate these scenarios instead of the active ones, or list them.',
    async run(client, scenarios, { none = false }) {
      if (none && scenarios.length > 0) throw new UsageError('ctl use: --none takes no scenarios');
      if (none || scenarios.length > 0) await client.call('PUT', '/scenario', { scenarios });
      const all = await client.call<readonly ScenarioSummary[]>('GET', '/scenarios');
      const active = all.filter((it) => it.active !== undefined);
      const listed = none || scenarios.length > 0 ? active : all;
      return tableOf(listed, { active: 'active', name: 'name', description: 'description' });
    },
  },
  save: {
    takes: 'NAME FILE',
    count: [2, 2],
    summary: 'Save a scenario of your own in the sandbox, for `use`.',
    run: saveScenario,
  },
  reset: {
    takes: '',
    count: NONE,
    flags: ['keep'],
    summary: 'Put the sandbox back to how it started.',
    async run(client, _words, { keep }) {
      await client.call('POST', '/reset', { keep });
      return done('reset');
    },
  },
  ship: {
    takes: 'ORDER',
    count: ONE,
    summary: 'Mark an order as shipped.',
    run: (client, [id = '']) => changeOrder(client, id, 'shipped'),
  },
  cancel: {
    takes: 'ORDER',
    count: ONE,
    summary: 'Mark an order as cancelled.',
    run: (client, [id = '']) => changeOrder(client, id, 'cancelled'),
  },
  get: {
    takes: 'animals|inventory|orders [ID | FIELD=VALUE…]',
    count: [1, Number.POSITIVE_INFINITY],
    summary: 'Print records: all, one, or those that match the filters of the control API.',
    run: getRecords,
  },
  set: {
    takes: 'animals|inventory|orders ID FIELD=VALUE…',
    count: [3, Number.POSITIVE_INFINITY],
    summary: 'Change fields of a record; null removes an optional one.',
    run: setFields,
  },
  assume: {
    takes: '[ID=OPTION…]',
    count: ANY,
    summary: 'Choose options of assumptions, or list those that differ from the default.',
    async run(client, words) {
      const options = Object.fromEntries(assignmentsOf(words));
      if (words.length > 0) await client.call('PATCH', '/assumptions', options);
      const all = await client.call<readonly AssumptionState[]>('GET', '/assumptions');
      const changed = all.filter((it) => it.chosen !== it.default);
      return tableOf(changed, {
        assumption: 'id',
        chosen: 'chosen',
        default: 'default',
        question: 'question',
      });
    },
  },
  clock: {
    takes: '[INSTANT | +DURATION | real]',
    count: [0, 1],
    flags: ['frozen'],
    summary: 'Set the clock, move it, freeze it, or show it.',
    async run(client, [to], { frozen }) {
      const duration = to?.startsWith('+') ? to.slice(1) : undefined;
      const now = duration === undefined && to !== 'real' ? to : undefined;
      if (to !== undefined && to !== 'real' && !/^(?:\+-?P|\d{4}-)/i.test(to)) {
        const expected = 'an instant, +DURATION such as +P30D, or real';
        throw refusal('ctl clock', expected, `${describe(to)}${meantDuration(to)}`);
      }
      if (duration !== undefined) await client.call('POST', '/clock/advance', { by: duration });
      const setting = { now, real: to === 'real' || undefined, frozen };
      const changes = Object.values(setting).some((it) => it !== undefined);
      if (changes) await client.call('PUT', '/clock', setting);
      const clock = await client.call<ClockState>('GET', '/clock');
      const state = clock.frozen ? ', frozen' : clock.real ? ', real time' : '';
      return { value: clock, text: () => `${clock.now}${state}\n` };
    },
  },
  requests: {
    takes: '[FILTER=VALUE…]',
    count: ANY,
    flags: ['follow'],
    summary: 'Print the latest exchanges, or follow them with --follow.',
    async run(client, words) {
      const path = `/requests${queryOf({ limit: LATEST, ...Object.fromEntries(assignmentsOf(words)) })}`;
      return exchangeTable((await client.call<JournalPage>('GET', path)).exchanges);
    },
  },
  holds: {
    takes: '',
    count: NONE,
    summary: 'List the replies that rules hold back.',
    run: async (client) => heldTable(await client.call<readonly HeldReply[]>('GET', '/holds')),
  },
  release: {
    takes: '[NAME] [WHICH=VALUE…]',
    count: ANY,
    summary: 'Release replies: all, those of a hold, count=N, newestFirst=true, exchanges=N,N.',
    async run(client, words) {
      const [name] = words.filter((word) => !word.includes('='));
      const asked = assignmentsOf(words.filter((word) => word !== name)).map(([member, text]) => {
        if (member === 'exchanges') return [member, text.split(',').map(Number)];
        return [member, /^(?:\d+|true|false)$/.test(text) ? JSON.parse(text) : text];
      });
      const body = { name, ...Object.fromEntries(asked) };
      const released = await client.call<ReleaseResult>('POST', '/holds/release', body);
      return heldTable(released.released, released);
    },
  },
  coverage: {
    takes: '',
    count: NONE,
    summary: 'Print how often each documented reply was shown.',
    async run(client) {
      const coverage = await client.call<Coverage>('GET', '/coverage');
      const { shown, total, percent } = coverage.totals.documented;
      const { text } = tableOf(coverage.documented, {
        shown: 'count',
        operation: 'operation',
        status: 'status',
        description: 'description',
      });
      const sum = `${shown} of ${total} documented replies (${percent}%)\n`;
      return { value: coverage, text: (style) => text(style) + sum };
    },
  },
  findings: {
    takes: '',
    count: NONE,
    summary: 'Print what the client should not do against the real service.',
    async run(client) {
      const report = await client.call<Findings>('GET', '/findings');
      const columns = { exchange: 'exchange', finding: 'code', message: 'message' } as const;
      return tableOf(report.findings, columns, report);
    },
  },
  sandboxes: {
    takes: '[FILTER=VALUE…]',
    count: ANY,
    ofServer: true,
    summary: 'List the sandboxes: all, or those that match the filters of the control API.',
    async run(client, words) {
      const path = `/sandboxes${queryOf(Object.fromEntries(assignmentsOf(words)))}`;
      return tableOf(await client.call<readonly SandboxSummary[]>('GET', path), {
        name: 'name',
        'last used': 'lastUsed',
        animals: 'animals',
        inventory: 'inventory',
        orders: 'orders',
        exchanges: 'requests',
        findings: 'findings',
        service: 'service',
      });
    },
  },
  snapshot: {
    takes: '[NAME]',
    count: [0, 1],
    summary: 'Keep a copy of the store, or list the copies.',
    async run(client, [name]) {
      if (name !== undefined) await client.call('POST', '/snapshots', { name });
      const all = await client.call<readonly Snapshot[]>('GET', '/snapshots');
      return tableOf(name === undefined ? all : all.filter((it) => it.name === name), {
        name: 'name',
        animals: 'animals',
        inventory: 'inventory',
        orders: 'orders',
      });
    },
  },
  restore: {
    takes: 'NAME',
    count: ONE,
    summary: 'Bring back the store of a snapshot.',
    async run(client, [name = '']) {
      await client.call('POST', `/snapshots/${encodeURIComponent(name)}/restore`);
      return done(`restored ${name}`);
    },
  },
} as const satisfies Record<string, Action>;

function heldTable(replies: readonly HeldReply[], value: object = replies): Result {
  const columns = { exchange: 'exchange', name: 'name', method: 'method' } as const;
  return tableOf(replies, { ...columns, target: 'target', since: 'since' }, value);
}

export type ActionName = keyof typeof ACTIONS;

export const ACTION_NAMES = Object.keys(ACTIONS).filter((name): name is ActionName =>
  Object.hasOwn(ACTIONS, name),
);

/** A row of the table in its general shape. */
export function actionShape(name: ActionName): Action {
  return ACTIONS[name];
}

/**
 * Finds the action that words ask for.
 *
 * @throws UsageError for an unknown action, and for too few or too many words
 */
export function actionOf([name, ...words]: readonly string[]): {
  readonly name: ActionName;
  readonly words: readonly string[];
} {
  if (name === undefined) {
    throw new UsageError('ctl needs an action; petstore-mock ctl --help lists them');
  }
  const found = oneOf(ACTION_NAMES, name, 'ctl', 'an action');
  const { takes, count } = actionShape(found);
  const [least, most] = count;
  if (words.length >= least && words.length <= most) return { name: found, words };
  const expected = takes === '' ? 'nothing more' : takes;
  const given = words.length === 0 ? 'nothing' : countText(words.length, 'word');
  throw refusal(`ctl ${found}`, expected, given);
}
