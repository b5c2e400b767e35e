import { existsSync } from 'node:fs';
import { DEFAULT_URL } from '../contract/base-url.ts';
import { parseInt64 } from '../contract/json.ts';
import { FINDING_CODE_NAMES } from '../evidence/finding-codes.ts';
import { REDIS_ADDRESS_FORM, readRedisAddress } from '../log/redis/address.ts';
import { SANDBOX_NAME, SANDBOX_NAME_FORM } from '../sandbox/sandbox-names.ts';
import { KEEPABLE } from '../sandbox/state.ts';
import { ASSUME } from '../scenario/assume-shape.ts';
import type { Member } from '../shape/objects.ts';
import { FIELD_SHAPES } from '../shape/record-shapes.ts';
import {
  choice,
  convert,
  either,
  FLAG,
  integer as integerShape,
  list as listShape,
  oneOrMore,
  type ReportMisfit,
  type Shape,
  scalar,
  text as textShape,
  type ValuePath,
  VISIBLE,
} from '../shape/shapes.ts';
import { describe } from '../words.ts';
import type { CommandName } from './command-table.ts';

/** A row of the table of flags. Its shape reads the flag's JSON value. */
export interface FlagShape extends Member<unknown, false> {
  /** A list can be repeated; the values of words can also be separated by commas. */
  readonly type: 'text' | 'integer' | 'list' | 'words' | 'switch';
  /** The placeholder for the value in the docs. */
  readonly value?: string;
  /** Bounds of an integer, both included. */
  readonly range?: readonly [number, number];
  readonly commands: readonly CommandName[];
  /** One line for the help, which adds the default. */
  readonly description: string;
  readonly default?: string | number;
  /** What follows `--`, unless it is the name of the option in kebab case. */
  readonly spelling?: string;
  /** One letter. */
  readonly alias?: string;
  /** A plain word is the name of something that ships, not a path. */
  readonly ships?: true;
  /** It names a file that the command writes. */
  readonly writes?: true;
  /** Descriptions for commands to which the flag means something else; they have no default. */
  readonly helpOn?: Partial<Record<CommandName, string>>;
}

type More = Pick<FlagShape, 'default' | 'spelling' | 'alias' | 'ships' | 'writes' | 'helpOn'>;
type Rest = [description: string, more?: More];

/** Any non-empty text. */
const TEXT = textShape();

/** What makes the rows of the flags that these commands have. */
export function flagsOn(...commands: readonly CommandName[]) {
  const row = <const Type extends FlagShape['type'], T>(
    type: Type,
    shape: Shape<T>,
    ...[description, more = {}]: Rest
  ) => ({ type, shape, required: false as const, commands, description, ...more });
  const one = <T>(shape: Shape<T>, value: string, ...rest: Rest) => ({
    ...row('text', shape, ...rest),
    value,
  });
  return {
    /** Takes one text of this shape. */
    one,
    text: (value: string, ...rest: Rest) => one(TEXT, value, ...rest),
    file: (...rest: Rest) => one(TEXT, 'FILE', ...rest),
    /** A file that the command writes. */
    output: (description: string, more?: More) =>
      one(TEXT, 'FILE', description, { ...more, writes: true }),
    /** Can be repeated. A config file can have a value alone instead of an array. */
    list: <T>(shape: Shape<T>, value: string, ...rest: Rest) => ({
      ...row('list', oneOrMore(shape, 0), ...rest),
      value,
    }),
    /** Takes several words. */
    words: <T>(shape: Shape<T>, value: string, ...rest: Rest) => ({
      ...row('words', shape, ...rest),
      value,
    }),
    integer: (value: string, range: readonly [number, number], ...rest: Rest) => ({
      ...row('integer', integerShape(...range), ...rest),
      value,
      range,
    }),
    /** Is on or off, and takes no value. */
    toggle: (...rest: Rest) => row('switch', FLAG, ...rest),
  };
}

/** A text with a condition. */
const textThat = (expected: string, isRight: (value: string) => boolean) =>
  scalar(expected, { type: 'string' }, (value) =>
    typeof value === 'string' && isRight(value) ? value : undefined,
  );

/** The same for a secret: messages do not show a mistyped one either. */
const secretThat = (expected: string, found: string, isRight: (value: string) => boolean) =>
  convert(TEXT, (value, at, report) => (isRight(value) ? value : report({ at, expected, found })));

/** What `--fail-on` accepts: a kind of finding, or any reply that rested on an assumption. */
export const FAILING_KINDS = ['assumed', ...FINDING_CODE_NAMES] as const;

export const FAIL_ON = listShape(choice(FAILING_KINDS));

/** The id of an order: an int64 as text. */
export const ORDER_ID = scalar(FIELD_SHAPES.int64.expected, { type: 'string' }, (value) =>
  typeof value === 'string' ? parseInt64(value) : undefined,
);

export const TOKEN = secretThat(
  'a token of visible ASCII characters',
  'another character in it',
  (value) => VISIBLE.test(value),
);

export const REDIS = secretThat(
  REDIS_ADDRESS_FORM,
  'something else',
  (value) => readRedisAddress(value) !== undefined,
);

export const SCENARIO_NAME = convert(TEXT, (value, at, report) => {
  if (!value.includes(',') || existsSync(value)) return value;
  const repeated = value.split(',').map((name) => `--scenario ${name.trim()}`);
  const found = `${describe(value)} (repeat the flag for several: ${repeated.join(' ')})`;
  return report({ at, expected: 'one scenario', found });
});

/** The name of a report; its extension tells the format. */
export const REPORT_FILE = textThat('a name that ends in .json, .html or .xml', (value) =>
  /\.(?:json|html|xml)$/.test(value),
);

/** A share in percent. */
export const SHARE = scalar(
  'a percentage from 0% to 100%, or documented',
  { type: 'string' },
  (value) => {
    if (value === 'documented') return 100;
    // Without the sign only whole numbers: 0.8 could mean 80%.
    const [, percent] = /^(\d{1,3}|\d{1,3}\.\d+(?=%))%?$/.exec(String(value)) ?? [];
    return percent !== undefined && Number(percent) <= 100 ? Number(percent) : undefined;
  },
  ['documented'],
);

export const SANDBOX = textThat(SANDBOX_NAME_FORM, (value) => SANDBOX_NAME.test(value));

/** What a reset can keep. */
export const KEPT = listShape(choice(KEEPABLE));

export const HTTP_URL = textThat(
  'an http URL such as http://127.0.0.1:4010',
  (value) => /^https?:/i.test(value) && URL.canParse(value),
);

export const SERVER_URL = textThat(`a URL such as ${DEFAULT_URL}`, (value) => URL.canParse(value));

const ASSIGNMENTS = listShape(
  textThat('ID=OPTION, such as cancel-again=404', (value) => value.includes('=')),
);

/** Options as ID=OPTION, or in an object by ID. The last one of an ID wins. */
export const ASSUMED = either(
  ASSUME,
  convert(ASSIGNMENTS, readOptions),
  'an object of ID: "OPTION", or "ID=OPTION" in an array',
);

/** Options as ID=OPTION, of which an ID can have several. */
export const ALLOWED = convert(ASSIGNMENTS, (texts, at, report) =>
  texts.every((it) => readOptions([it], at, report)) ? texts : undefined,
);

/** An option of `rate-limit`, the assumption for which the flag is named. */
export const RATE = convert(TEXT, (option, at, report) =>
  ASSUME.read({ 'rate-limit': option }, [...at], (misfit) => report({ ...misfit, at })),
);

function readOptions(texts: readonly string[], at: ValuePath, report: ReportMisfit) {
  const options = texts.map((it) => /^([^=]*)=(.*)$/s.exec(it)?.slice(1) ?? []);
  return ASSUME.read(Object.fromEntries(options), [...at], report);
}
