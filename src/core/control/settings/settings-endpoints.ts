import {
  ASSUMPTION_IDS,
  assumptionState,
  type Choices,
  optionsOf,
} from '../../contract/assumption-table.ts';
import { DATE_TIME, DAY_MS } from '../../contract/date-time.ts';
import { outcome } from '../../sandbox/answer.ts';
import {
  ASSUMPTION_NOTE,
  COUNT,
  OPERATION,
  ofCollections,
  SHARED_STATUS,
  TEXTS,
} from '../../sandbox/report-shapes.ts';
import { changeLayers } from '../../sandbox/state.ts';
import {
  advanceClock,
  type Clock,
  isReal,
  REAL_CLOCK,
  readClock,
  setClock,
} from '../../service/clock.ts';
import { groundsOf } from '../../service/reply.ts';
import { ASSUME, INSTANT, SHIFT } from '../../service/settings-shapes.ts';
import { namedObject, object, optional, required } from '../../shape/objects.ts';
import { ANY_TEXT, choice, FLAG, type InputOf, list, type ValueOf } from '../../shape/shapes.ts';
import { measureChanges } from '../../store/merge.ts';
import type { Store } from '../../store/store.ts';
import { countText } from '../../words.ts';
import { type ControlParts, edit, endpoint } from '../endpoint.ts';
import { type ControlReply, json, refuseInput } from '../reply.ts';

const OPTION = object({
  name: required(ANY_TEXT, 'Its name.'),
  meaning: required(ANY_TEXT, 'What the mock does if it is chosen.'),
});

const ASSUMPTION = namedObject('Assumption', {
  id: required(choice(ASSUMPTION_IDS), 'Its id.'),
  topic: required(ANY_TEXT, 'What it is about.'),
  question: required(ANY_TEXT, 'What the document leaves open.'),
  operations: required(list(OPERATION), 'The operations whose replies it can change.'),
  options: required(list(OPTION), 'The options, the default first.'),
  chosen: required(ANY_TEXT, 'The option that is chosen.'),
  default: required(ANY_TEXT, 'The option that is chosen by default.'),
  calls: optional(COUNT, 'How many calls in the journal it decided; in `GET assumptions` only.'),
  checked: optional(ASSUMPTION_NOTE, 'What a check of a deployment found out about it.'),
});
type AssumptionJson = InputOf<typeof ASSUMPTION>;

const CLOCK = namedObject('Clock', {
  now: required(DATE_TIME, 'The current time.'),
  frozen: required(FLAG, 'Whether it is frozen.'),
  real: required(FLAG, 'Whether it follows the system time.'),
});
type ClockJson = InputOf<typeof CLOCK>;

const MAX_CHANGED_IDS = 200;

const STATUS = namedObject('Status', {
  sandbox: required(ANY_TEXT, 'The name of the sandbox.'),
  scenarios: required(TEXTS, 'The active scenarios. A later one wins over an earlier one.'),
  assumptions: required(TEXTS, 'The assumptions that are not at their default, as `id=option`.'),
  clock: required(CLOCK, 'The clock.'),
  upstream: optional(ANY_TEXT, 'The base URL of the deployment that answers, if one does.'),
  held: required(COUNT, 'How many replies rules hold back.'),
  latches: required(TEXTS, 'The names of the latches, which hold replies back until opened.'),
  latestExchange: required(COUNT, 'The number of the latest exchange; 0 before the first.'),
  keptExchanges: required(COUNT, 'How many are kept.'),
  changed: required(
    object(ofCollections(COUNT, 'How many', 'differ')),
    'How many records differ from those of the start.',
  ),
  changedIds: required(
    object(ofCollections(TEXTS, 'Ids of', 'that differ')),
    `Their ids, at most ${MAX_CHANGED_IDS} of each.`,
  ),
  server: optional(
    object({
      id: required(ANY_TEXT, 'Its id, another one after a restart.'),
      startedAt: required(DATE_TIME, 'When it started, by the system time.'),
    }),
    'The run of the server; left out where several servers share the sandboxes.',
  ),
  keys: required(TEXTS, 'The API keys, expired ones too; those that may write first.'),
  shared: optional(SHARED_STATUS, 'With `--shared`, the servers that share the sandboxes.'),
});
type SandboxStatus = InputOf<typeof STATUS>;

export const ASSUMPTION_ENDPOINTS = [
  endpoint('listAssumptions', 'GET /assumptions', {
    summary: 'List assumptions and their options',
    replies: { 200: list(ASSUMPTION) },
    handle: async ({ sandbox, journal, parts }) => {
      const { exchanges } = await journal.select({ filter: { basis: 'assumed' }, heads: true });
      const calls = new Map<string, number>();
      for (const reason of exchanges.flatMap(({ basis }) => groundsOf(basis))) {
        const id = reason.split('=')[0] ?? '';
        calls.set(id, (calls.get(id) ?? 0) + 1);
      }
      return replyWithAssumptions(sandbox.state.settings.choices, parts, calls);
    },
  }),
  endpoint('chooseOptions', 'PATCH /assumptions', {
    summary: 'Choose options of assumptions',
    description: 'Takes an option for each assumption to change. Changes all of them, or none.',
    body: { shape: ASSUME },
    example: { body: { 'cancel-again': '404' } },
    replies: { 200: list(ASSUMPTION) },
    handle: (call) =>
      edit(call, `assumed ${formatChoices(call.body)}`, (state) => {
        const byHand = { ...state.settings.byHand, ...call.body };
        const isSame = formatChoices(byHand) === formatChoices(state.settings.byHand);
        const after = isSame ? state : changeLayers(state, { byHand });
        const reply = replyWithAssumptions(after.settings.choices, call.parts);
        return outcome(state, reply, after);
      }),
  }),
];

function formatChoices(choices: Partial<Choices>): string {
  return Object.entries(choices)
    .map(([id, option]) => `${id}=${option}`)
    .join(', ');
}

function replyWithAssumptions(
  choices: Choices,
  { notes }: ControlParts,
  calls?: ReadonlyMap<string, number>,
): ControlReply {
  const states = ASSUMPTION_IDS.map((id): AssumptionJson => {
    const checked = notes?.get(id);
    const counted = calls && { calls: calls.get(id) ?? 0 };
    return { ...assumptionState(id, choices), ...(checked && { checked }), ...counted };
  });
  return json(states);
}

const FROZEN = optional(FLAG, 'Whether time stops.');

const CLOCK_SETTING = namedObject(
  'ClockSetting',
  {
    now: optional(INSTANT, 'The time to set.'),
    frozen: FROZEN,
    real: optional(FLAG, 'True returns to the system time, which cannot be frozen.'),
  },
  { some: true },
);

const CLOCK_MOVE = object({
  by: required(SHIFT, 'A duration. A negative one moves the clock back.'),
  frozen: FROZEN,
});

export const CLOCK_ENDPOINTS = [
  endpoint('getClock', 'GET /clock', {
    summary: 'Read the clock',
    replies: { 200: CLOCK },
    handle: async ({ sandbox }) => json(showClock(sandbox.state.clock)),
  }),
  endpoint('setClock', 'PUT /clock', {
    summary: 'Set, freeze or unfreeze the clock',
    description:
      'Members that the body leaves out keep their values. `{"real": true}` returns to the system time.',
    body: { shape: CLOCK_SETTING },
    example: { body: { now: '2030-12-06T00:00:00Z', frozen: true } },
    replies: { 200: CLOCK },
    handle: async (call) => {
      const { now, frozen, real } = call.body;
      if (real && (frozen || now !== undefined)) {
        const [path, found] = frozen ? ['$.frozen', 'true'] : ['$.now', 'a time'];
        return refuseInput([{ path, expected: 'nothing beside real', found }]);
      }
      const what = describeSetting(call.body);
      if (what === '')
        return refuseInput([
          { path: '$.real', expected: 'true, or now or frozen beside it', found: 'false' },
        ]);
      return edit(call, what, (state, { wall }) => {
        const clock = real ? REAL_CLOCK : setClock(state.clock, { now, frozen }, wall);
        return outcome(state, json(showClock(clock)), { clock });
      });
    },
  }),
  endpoint('advanceClock', 'POST /clock/advance', {
    summary: 'Move the clock forward or back',
    description: 'Takes an ISO 8601 duration such as `P30D`; `-P30D` moves the clock back.',
    body: { shape: CLOCK_MOVE },
    example: { body: { by: 'P30D' } },
    replies: { 200: CLOCK },
    handle: (call) => {
      const { by, frozen } = call.body;
      const moved = `moved the clock by ${formatDuration(by)}`;
      const also = frozen === undefined ? '' : ` and ${describeSetting({ frozen })}`;
      return edit(call, moved + also, (state, { wall }) => {
        const clock = advanceClock(state.clock, by, wall, frozen);
        if (clock === undefined) {
          const expected = 'a duration that leads to a time from 1970 to 9999';
          const found = formatDuration(by);
          return outcome(state, refuseInput([{ path: '$.by', expected, found }]));
        }
        return outcome(state, json(showClock(clock)), { clock });
      });
    },
  }),
];

function describeSetting({ now, frozen, real }: ValueOf<typeof CLOCK_SETTING>): string {
  if (real) return 'set the clock to the system time';
  const parts = [
    ...(now === undefined ? [] : [`set the clock to ${new Date(now).toISOString()}`]),
    ...(frozen === undefined ? [] : [frozen ? 'froze the clock' : 'let the clock run']),
  ];
  return parts.join(' and ');
}

function formatDuration(milliseconds: number): string {
  const sign = milliseconds < 0 ? '-' : '+';
  const size = Math.abs(milliseconds);
  const units = [
    ['day', DAY_MS],
    ['hour', 3_600_000],
    ['minute', 60_000],
  ] as const;
  const [unit, length] = units.find(([, length]) => size % length === 0) ?? ['second', 1000];
  return sign + countText(size / length, unit);
}

function showClock(clock: Clock): ClockJson {
  const now = new Date(readClock(clock)).toISOString();
  return { now, frozen: clock.frozenAt !== undefined, real: isReal(clock) };
}

export const STATUS_ENDPOINT = endpoint('getStatus', 'GET /status', {
  quiet: true,
  summary: 'Read what differs from a fresh mock',
  replies: { 200: STATUS },
  handle: async ({ sandbox, journal, parts: { sandboxes, persistence } }) => {
    const { name, state } = sandbox;
    const { active, choices, keys } = state.settings;
    const { valid, readOnly, invalid } = keys;
    const { number: latestExchange, size: keptExchanges } = await journal.size();
    const chosen = ASSUMPTION_IDS.filter((id) => choices[id] !== optionsOf(id)[0]);
    return json<SandboxStatus>({
      sandbox: name,
      scenarios: active.map((scenario) => scenario.name),
      assumptions: chosen.map((id) => `${id}=${choices[id]}`),
      clock: showClock(state.clock),
      upstream: sandboxes.upstream?.url,
      held: (await journal.held()).length,
      latches: [...state.latches.keys()],
      latestExchange,
      keptExchanges,
      changed: measureChanges(sandbox.start.store, state.store).changed,
      changedIds: listChanged(sandbox.start.store, state.store),
      server: sandboxes.server,
      keys: invalid === 'all' ? [] : [...valid, ...readOnly].filter((key) => !invalid.has(key)),
      shared: persistence.status?.(),
    });
  },
});

function listChanged(before: Store, after: Store): SandboxStatus['changedIds'] {
  const texts = (ids: readonly bigint[]) => ids.slice(0, MAX_CHANGED_IDS).map(String);
  return {
    animals: texts(before.animals.changedIds(after.animals)),
    inventory: texts(before.inventory.changedIds(after.inventory)),
    orders: texts(before.orders.changedIds(after.orders)),
  };
}
