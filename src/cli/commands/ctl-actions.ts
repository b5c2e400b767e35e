import { basename, extname } from 'node:path';
import type { ControlClient, ReplyOf } from '../../client/control-client.ts';
import { OPERATION_IDS } from '../../core/contract/operations.ts';
import { rowNames } from '../../core/tables.ts';
import { countText, describe } from '../../core/words.ts';
import { Failure, misuse, parseChoice, readTextFile, UsageError } from '../../terminal/command.ts';
import { ANY_NUMBER, NO_WORDS } from '../command-table.ts';
import { describeCoverage } from '../run-evidence.ts';
import { callEndpoint, RECORD_ACTIONS } from './ctl-records.ts';
import {
  type Action,
  type ActionResult,
  createTable,
  exchangeRow,
  parseFilters,
  parseMembers,
  splitFirst,
} from './ctl-tables.ts';

const MAX_EXCHANGES = 20;

/** A word that is no assignment. */
const NAME = /^[^=]*$/;

const ACTIONS = {
  use: {
    takes: ['[SCENARIO | FILE…]', 0, ANY_NUMBER],
    flags: ['none'],
    summary: 'Activate these scenarios instead of the active ones, or list them.',
    async run(client, words, { none = false }) {
      if (none && words.length > 0) throw new UsageError('ctl use: --none takes no scenarios');
      if (!none && words.length === 0) {
        return createTable(await client.call('GET /scenarios'), 'active', 'name', 'description');
      }
      const names: string[] = [];
      for (const word of words) names.push(isFile(word) ? await saveFile(client, word) : word);
      const json = await client.call('PUT /scenario', { body: { scenarios: names } });
      const rows = json.scenarios.map(({ name, description }, index) => {
        return { active: index + 1, name, description };
      });
      return { rows, json };
    },
  },
  save: {
    takes: ['NAME FILE', 2, 2],
    summary: 'Save a scenario of your own in the sandbox, for `use`.',
    run: async (client, [name, file = '']) => {
      return { text: `saved ${await saveFile(client, file, name)}\n` };
    },
  },
  reset: {
    takes: NO_WORDS,
    flags: ['keep'],
    summary: 'Reset the sandbox to how it started.',
    async run(client, _words, { keep }) {
      await client.call('POST /reset', { body: { keep } });
      return { text: 'reset\n' };
    },
  },
  ...RECORD_ACTIONS,
  assume: {
    takes: ['[ID=OPTION…]', 0, ANY_NUMBER],
    summary: 'Choose options of assumptions, or list those that differ from the default.',
    async run(client, words) {
      const route = 'PATCH /assumptions';
      const all = await (words.length === 0
        ? client.call('GET /assumptions')
        : client.call(route, { body: await parseMembers(route, words) }));
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
        throw misuse('ctl clock', expected, describe(to) + durationHint(to));
      }
      const real = to.toLowerCase() === 'real' || undefined;
      const body = { now: /^\d/.test(to) ? to : undefined, real, frozen };
      const clock = to.startsWith('+')
        ? await client.call('POST /clock/advance', { body: { by: to.slice(1), frozen } })
        : to === '' && frozen === undefined
          ? await client.call('GET /clock')
          : await client.call('PUT /clock', { body });
      const state = clock.frozen ? ', frozen' : clock.real ? ', real time' : '';
      return { text: `${clock.now}${state}\n`, json: clock };
    },
  },
  requests: {
    takes: ['[FILTER=VALUE…]', 0, ANY_NUMBER],
    flags: ['follow'],
    summary: 'Print the latest exchanges, or follow them with --follow.',
    async run(client, words) {
      const query = { limit: MAX_EXCHANGES, ...parseFilters(words) };
      const { exchanges } = await client.call('GET /requests', { query });
      return { rows: exchanges.map(exchangeRow), json: exchanges };
    },
  },
  wait: {
    takes: ['[FILTER=VALUE…] [atLeast=N] [within=DURATION]', 0, ANY_NUMBER],
    summary: 'Wait until an exchange matches, or atLeast=N; fail after 10 seconds, or DURATION.',
    async run(client, words) {
      const body = { atLeast: 1, ...(await parseMembers('POST /requests/count', words)) };
      const json = await client.call('POST /requests/count', { body });
      const found = `${countText(json.count, 'exchange')} matched`;
      if (json.count < body.atLeast) throw new Failure(`${found}, not ${body.atLeast}`);
      return { text: `${found}\n`, json };
    },
  },
  whatif: {
    takes: ['EXCHANGE', 1, 1],
    summary: 'List what the real service might have answered instead.',
    async run(client, [number = '']) {
      const list = await client.call('GET /requests/{number}/alternatives', { path: { number } });
      return createTable(list, 'assumption', 'option', 'status', 'meaning');
    },
  },
  rewind: {
    takes: ['EXCHANGE [before|after]', 1, 2],
    summary: 'Rewind the sandbox to before or after a call.',
    async run(client, [number = '', side = 'before']) {
      const to = parseChoice(['before', 'after'], side, 'ctl rewind');
      await client.call('POST /requests/{number}/rewind', { path: { number }, body: { to } });
      return { text: `rewound to ${to} call ${number}\n` };
    },
  },
  undo: {
    takes: NO_WORDS,
    summary: 'Undo the latest change by ctl, the dashboard or a test.',
    async run(client) {
      const json = await client.call('POST /undo');
      const { what, laterCalls } = json;
      const calls = countText(laterCalls, 'later call');
      const also = laterCalls === 0 ? '' : `, and with it what ${calls} had changed`;
      return { text: `undone: ${what}${also}\n`, json };
    },
  },
  hold: {
    takes: ['OPERATION [NAME] [MEMBER=VALUE…]', 1, ANY_NUMBER],
    summary: "Set a latch: hold an operation's replies, or all with *, until `release`.",
    async run(client, [operation, ...words]) {
      const on = parseChoice([...OPERATION_IDS, '*'], operation, 'ctl hold');
      const [name = 'default', members] = splitFirst(words, NAME);
      const named = [`on=${on}`, `hold=${name}`, ...members];
      // Parsed with the others to refuse a second one, and sent as written: a name can look like a number.
      const body = { ...(await parseMembers('POST /holds', named)), on, hold: name };
      await client.call('POST /holds', { body });
      return { text: `holding ${on} as ${name}; "ctl release ${name} open=true" ends it\n` };
    },
  },
  holds: {
    takes: NO_WORDS,
    summary: 'List the replies that rules hold back.',
    run: async (client) => createHoldTable(await client.call('GET /holds')),
  },
  release: {
    takes: ['[NAME] [WHICH=VALUE…]', 0, ANY_NUMBER],
    summary: 'Release replies: all, those of a hold, count=N, newestFirst=true, exchanges=N,N.',
    async run(client, words) {
      const [name, which] = splitFirst(words, NAME);
      const named = name === undefined ? which : [`name=${name}`, ...which];
      const body = await parseMembers('POST /holds/release', named);
      const json = await client.call('POST /holds/release', { body });
      return { ...createHoldTable(json.released), json };
    },
  },
  coverage: {
    takes: NO_WORDS,
    summary: 'Print which documented and assumed replies were shown.',
    async run(client) {
      const json = await client.call('GET /coverage');
      return { facts: describeCoverage(json), json };
    },
  },
  findings: {
    takes: NO_WORDS,
    summary: 'Print what the client should not do against the real service.',
    async run(client) {
      const json = await client.call('GET /findings');
      return { ...createTable(json.findings, 'exchange', 'code', 'message'), json };
    },
  },
  sandboxes: {
    takes: ['[FILTER=VALUE…]', 0, ANY_NUMBER],
    defaultOnly: true,
    summary: 'List the sandboxes: all, or those that match the filters of the control API.',
    async run(client, words) {
      const list = await client.call('GET /sandboxes', { query: parseFilters(words) });
      const sizes = ['animals', 'inventory', 'orders'] as const;
      return createTable(list, 'name', 'lastUsed', ...sizes, 'requests', 'findings', 'service');
    },
  },
  snapshot: {
    takes: ['[NAME]', 0, 1],
    summary: 'Take a snapshot of the store, or list the snapshots.',
    async run(client, [name]) {
      const listed =
        name === undefined
          ? await client.call('GET /snapshots')
          : [await client.call('POST /snapshots', { body: { name } })];
      return createTable(listed, 'name', 'animals', 'inventory', 'orders');
    },
  },
  restore: {
    takes: ['NAME', 1, 1],
    summary: 'Restore the store from a snapshot.',
    async run(client, [name = '']) {
      await client.call('POST /snapshots/{name}/restore', { path: { name } });
      return { text: `restored ${name}\n` };
    },
  },
  call: {
    takes: ['[OPERATION [NAME=VALUE…] [JSON | @FILE]]', 0, ANY_NUMBER],
    summary: 'Call any endpoint of the control API, or list them.',
    run: callEndpoint,
  },
} as const satisfies Record<string, Action>;

/** Scenarios are named, files have a folder or an extension. */
function isFile(word: string): boolean {
  return /[\\/]|\.(?:ya?ml|json)$/i.test(word);
}

async function saveFile(
  client: ControlClient,
  file: string,
  name = basename(file, extname(file)),
): Promise<string> {
  const body = await readTextFile(file, 'ctl', 'a scenario file');
  const type = extname(file).toLowerCase() === '.json' ? 'json' : 'yaml';
  const headers = { 'Content-Type': `application/${type}` };
  await client.request('PUT /scenarios/{name}', { path: { name }, body, headers });
  return name;
}

function durationHint(text: string): string {
  const [, count, unit = ''] = /^\+?(\d+)([smhdw])$/i.exec(text) ?? [];
  if (count === undefined) return '';
  return ` (did you mean +P${/[dw]/i.test(unit) ? '' : 'T'}${count}${unit.toUpperCase()}?)`;
}

function createHoldTable(held: ReplyOf<'GET /holds'>): ActionResult {
  return createTable(held, 'exchange', 'name', 'method', 'target', 'since');
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
