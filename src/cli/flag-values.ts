import { existsSync } from 'node:fs';
import { DEFAULT_URL } from '../contract/base-url.ts';
import { parseInt64 } from '../contract/json.ts';
import { NAME_FORM, NAME_PATTERN } from '../limits.ts';
import { FINDING_CODE_NAMES } from '../sandbox/finding-codes.ts';
import { KEEPABLE } from '../sandbox/state.ts';
import { ASSUME } from '../scenario/assume-shape.ts';
import { FIELD_SHAPES } from '../shape/record-shapes.ts';
import {
  choice,
  convert,
  either,
  FLAG,
  integer,
  KEY,
  list,
  oneOrMore,
  type ReportMisfit,
  type Shape,
  scalar,
  text,
  type ValuePath,
  VISIBLE,
} from '../shape/shapes.ts';
import { REDIS_ADDRESS_FORM, readRedisAddress } from '../storage/redis/address.ts';
import { MOST_RECORDS } from '../store/fixture/generate-store.ts';
import { describe } from '../words.ts';

/** What can follow a flag. */
export interface FlagValue<T = unknown> {
  /** A list can be repeated; the values of words can also be separated by commas. */
  readonly type: 'text' | 'integer' | 'list' | 'words' | 'switch';
  /** Reads the value as JSON. */
  readonly shape: Shape<T>;
  /** The placeholder in help and docs; none for a switch. */
  readonly placeholder?: string;
  /** Whether it names a file that the command writes. */
  readonly writes?: true;
}

/** One value. */
export function one<T>(placeholder: string, shape: Shape<T>): FlagValue<T> {
  return { type: 'text', shape, placeholder };
}

/** Values of a flag that can be repeated. A config file can have one alone instead of an array. */
function many<T>(placeholder: string, shape: Shape<T>): FlagValue<readonly T[]> {
  return { type: 'list', shape: oneOrMore(shape, 0), placeholder };
}

function words<T>(placeholder: string, shape: Shape<T>): FlagValue<T> {
  return { type: 'words', shape, placeholder };
}

export function count(min: number, max: number, placeholder = 'N'): FlagValue<number> {
  return { type: 'integer', shape: integer(min, max), placeholder };
}

/** As many as a server can hold. */
export const MANY = count(0, MOST_RECORDS);

export function milliseconds(min: number, max: number): FlagValue<number> {
  return count(min, max, 'MS');
}

export const SWITCH: FlagValue<boolean> = { type: 'switch', shape: FLAG };

const TEXT = text();

export const FILE = one('FILE', TEXT);

export const OUTPUT: FlagValue<string> = { ...FILE, writes: true };

/** A text with a condition. The message does not show a mistyped secret, only what was `found`. */
const textThat = (expected: string, isRight: (value: string) => boolean, found?: string) =>
  convert(TEXT, (value, at, report) =>
    isRight(value) ? value : report({ at, expected, found: found ?? describe(value) }),
  );

export const KEYS = many('KEY', KEY);

export const TOKEN = one(
  'TOKEN',
  textThat(
    'a token of visible ASCII characters',
    (value) => VISIBLE.test(value),
    'another character in it',
  ),
);

export const REDIS = one(
  'URL',
  textThat(REDIS_ADDRESS_FORM, (it) => readRedisAddress(it) !== undefined, 'something else'),
);

export const HTTP_URL = one(
  'URL',
  textThat(
    'an http URL such as http://127.0.0.1:4010',
    (value) => /^https?:/i.test(value) && URL.canParse(value),
  ),
);

export const SERVER_URL = one(
  'URL',
  textThat(`a URL such as ${DEFAULT_URL}`, (value) => URL.canParse(value)),
);

export const SANDBOX = one('NAME', text(NAME_FORM, NAME_PATTERN, {}));

export const SCENARIOS = many(
  'FILE',
  convert(TEXT, (value, at, report) => {
    if (!value.includes(',') || existsSync(value)) return value;
    const repeated = value.split(',').map((name) => `--scenario ${name.trim()}`);
    const found = `${describe(value)} (repeat the flag for several: ${repeated.join(' ')})`;
    return report({ at, expected: 'one scenario', found });
  }),
);

/** Ids of orders: int64 as text. */
export const ORDER_IDS = many(
  'ID',
  scalar(FIELD_SHAPES.int64.expected, { type: 'string' }, (value) => parseInt64(String(value))),
);

/** The names of reports, whose extensions tell their formats. */
export const REPORT_FILES = {
  ...many('FILE', text('a name that ends in .json, .html or .xml', /\.(?:json|html|xml)$/, {})),
  writes: true,
} as const;

/** A share in percent. Without the sign only whole numbers: 0.8 could mean 80%. */
export const SHARE = one(
  'N%',
  convert(
    text(
      'a percentage from 0% to 100%, or documented',
      /^(?:documented|100%?|\d{1,2}%?|\d{1,2}\.\d+%)$/,
      {},
    ),
    (value) => (value === 'documented' ? 100 : Number.parseFloat(value)),
  ),
);

/** What `--fail-on` accepts: a kind of finding, or any reply that rested on an assumption. */
export const FAILING_KINDS = ['assumed', ...FINDING_CODE_NAMES] as const;

export const FAIL_ON = words('KINDS', list(choice(FAILING_KINDS)));

/** What a reset can keep. */
export const KEPT = words('WHAT', list(choice(KEEPABLE)));

const ASSIGNMENTS = list(text('ID=OPTION, such as cancel-again=404', /=/, {}));

/** Options as ID=OPTION, or in an object by ID. The last one of an ID wins. */
export const ASSUMED = words(
  'ID=OPTION',
  either(
    ASSUME,
    convert(ASSIGNMENTS, readOptions),
    'an object of ID: "OPTION", or "ID=OPTION" in an array',
  ),
);

/** Options as ID=OPTION, of which an ID can have several. */
export const ALLOWED = words(
  'ID=OPTION',
  convert(ASSIGNMENTS, (texts, at, report) =>
    texts.every((it) => readOptions([it], at, report)) ? texts : undefined,
  ),
);

/** An option of `rate-limit`, the assumption for which the flag is named. */
export const RATE = one(
  'N/s',
  convert(TEXT, (option, at, report) =>
    ASSUME.read({ 'rate-limit': option }, [...at], (misfit) => report({ ...misfit, at })),
  ),
);

function readOptions(texts: readonly string[], at: ValuePath, report: ReportMisfit) {
  const options = texts.map((it) => /^([^=]*)=(.*)$/s.exec(it)?.slice(1) ?? []);
  return ASSUME.read(Object.fromEntries(options), [...at], report);
}
