import { DAY_MS } from '../contract/date-time.ts';
import { isObject } from '../json.ts';
import { DEFAULTS, MAX_RECORDS } from '../limits.ts';
import { object, optional, required } from '../shape/objects.ts';
import {
  count,
  inCode,
  inMilliseconds,
  milliseconds,
  type OptionGroups,
  type OptionsOf,
  optionFor,
  SWITCH,
  words,
} from '../shape/option-kinds.ts';
import {
  choice,
  convert,
  either,
  FLAG,
  KEY,
  list,
  number,
  type ReportMisfit,
  type Shape,
  scalar,
  text,
  type ValuePath,
  withTypes,
} from '../shape/shapes.ts';
import { describe } from '../words.ts';
import { LATEST } from './clock.ts';
import type { KeyLists } from './keyring.ts';
import {
  ASSUME,
  HOLD_TIME,
  IDLE_TIME,
  INSTANT,
  MAX_DELAY_MS,
  writeDuration,
} from './settings-shapes.ts';

/** A number of records, exchanges or sandboxes. */
export const AMOUNT = count(0, MAX_RECORDS);

export const ASSIGNMENTS = list(text('ID=OPTION, such as cancel-again=404', /=/, {}));

export function readAssignments(texts: readonly string[], at: ValuePath, report: ReportMisfit) {
  const options = texts.map((text) => /^([^=]*)=(.*)$/s.exec(text)?.slice(1) ?? []);
  return ASSUME.read(Object.fromEntries(options), [...at], report);
}

/** Options as ID=OPTION, or as an object by ID. The last option for an ID wins. */
const ASSUME_OPTION = {
  ...words(
    'ID=OPTION',
    either(
      ASSUME,
      convert(ASSIGNMENTS, readAssignments),
      'an object of ID: "OPTION", or "ID=OPTION" in an array',
    ),
  ),
  codeShape: {
    ...ASSUME,
    read(value: unknown, at: (string | number)[], report: ReportMisfit) {
      // A config file may have an option without quotes, such as the number 404.
      for (const [id, option] of Object.entries(isObject(value) ? value : {})) {
        if (typeof option === 'string' || option === undefined) continue;
        const [expected, found] = [`a string such as "${String(option)}"`, describe(option)];
        return report({ at: [...at, id], expected, found });
      }
      return ASSUME.read(value, at, report);
    },
  },
};

const EXPIRY_IN_CODE = either(
  object({
    kind: required(choice(['after']), ''),
    milliseconds: required(number(0, Number.POSITIVE_INFINITY, 'milliseconds from 0'), ''),
  }),
  object({
    kind: required(choice(['at']), ''),
    instant: required(number(0, LATEST, 'milliseconds since 1970'), ''),
  }),
  "{ kind: 'after', milliseconds } or { kind: 'at', instant }",
);

/** When each key expires, as a duration or an instant. `all` is for keys without their own. */
const EXPIRY_MAP: Shape<ReadonlyMap<unknown, unknown>> = {
  ...scalar('a Map of times by key', {}, (value) => (value instanceof Map ? value : undefined)),
  read(value, at, report) {
    if (!(value instanceof Map)) {
      return report({ at, expected: this.expected, found: describe(value) });
    }
    for (const [key, end] of value) EXPIRY_IN_CODE.read(end, [...at, String(key)], report);
    return value;
  },
};

const KEY_LISTS = object({
  valid: optional(list(KEY), ''),
  readOnly: optional(list(KEY), ''),
  allReadOnly: optional(FLAG, ''),
  invalid: optional(either(choice(['all']), list(KEY)), ''),
  any: optional(FLAG, ''),
  expires: optional(EXPIRY_MAP, ''),
});

export const forServers = optionFor('serve', 'exec', 'sweep');
export const forGenerators = optionFor('serve', 'exec', 'sweep', 'generate');
export const forAssumptions = optionFor('serve', 'exec', 'sweep', 'assumptions');

/** The options of a mock wherever it runs: on a port, in an Express app, or behind `fetch`. */
export const MOCK_OPTIONS = {
  Store: {
    seed: forGenerators(
      count(-(2 ** 31), 2 ** 31 - 1),
      'Seed of everything random; the same seed gives the same store.',
      { default: DEFAULTS.seed },
    ),
  },
  Simulation: {
    sandboxRequired: forServers(SWITCH, 'Refuse requests that name no sandbox.'),
    /** How many sandboxes there may be besides the default one and staging; 10,000 by default. */
    maxSandboxes: forServers(AMOUNT, 'Maximum number of sandboxes; the next gets 503.', {
      default: DEFAULTS.maxSandboxes,
    }),
    /** Milliseconds after which a sandbox that nobody uses is removed; by default never. */
    sandboxIdle: forServers(
      inMilliseconds(
        'DURATION',
        IDLE_TIME,
        number(1, Number.POSITIVE_INFINITY, 'milliseconds, at least 1'),
      ),
      'Remove sandboxes idle for this long.',
    ),
    /** How many exchanges each sandbox keeps; 1,000 by default, 0 keeps none. */
    journal: forServers(AMOUNT, 'Exchanges to keep in each sandbox.', {
      default: DEFAULTS.journal,
    }),
  },
  Answers: {
    assume: forAssumptions(ASSUME_OPTION, 'Choose another option of an assumption, as ID=OPTION.'),
    /** Milliseconds by which to delay replies that no rule decides. */
    delay: forServers(milliseconds(0, MAX_DELAY_MS), 'Delay replies that no rule decides.'),
    /** Milliseconds after which a held reply is sent anyway; 5 minutes by default. */
    maxHold: forServers(
      inMilliseconds('DURATION', HOLD_TIME, number(1, DAY_MS, 'milliseconds from 1 to a day')),
      'Maximum time to hold a reply.',
      { default: writeDuration(DEFAULTS.maxHold) },
    ),
    /** The initial time in milliseconds since 1970; the system time by default. */
    clock: forServers(
      inMilliseconds('INSTANT', INSTANT, number(0, LATEST, 'milliseconds since 1970')),
      'Time to start from, such as 2030-12-06T00:00:00Z.',
    ),
    frozen: optionFor(
      'serve',
      'exec',
      'sweep',
      'ctl',
    )(SWITCH, 'Stop the clock.', {
      spelling: 'freeze',
    }),
    plain: forServers(SWITCH, 'Omit the Mock-Basis header, as the service does.'),
  },
  Code: {
    /** API keys. */
    keys: inCode(withTypes<KeyLists, never>(KEY_LISTS)),
  },
} satisfies OptionGroups;

export type MockOptions = OptionsOf<typeof MOCK_OPTIONS>;
