import { DAY_MS } from '../core/contract/date-time.ts';
import { isObject } from '../core/json.ts';
import { MAX_RECORDS } from '../core/limits.ts';
import { FINDING_CODE_NAMES } from '../core/sandbox/report-shapes.ts';
import {
  ASSUME,
  HOLD_TIME,
  IDLE_TIME,
  INSTANT,
  MAX_DELAY_MS,
} from '../core/scenario/settings-shapes.ts';
import { LATEST } from '../core/service/clock.ts';
import { type Member, object, optional, required } from '../core/shape/objects.ts';
import {
  choice,
  convert,
  either,
  FLAG,
  integer,
  KEY,
  list,
  number,
  oneOrMore,
  type ReportMisfit,
  readAs,
  type Shape,
  type ShapeProblem,
  scalar,
  text,
  type ValuePath,
  VISIBLE,
} from '../core/shape/shapes.ts';
import { describe } from '../core/words.ts';

export interface OptionKind<Value = unknown, InCode = Value> {
  /** How text is read. A list can be repeated; the values of words can also be separated by commas. */
  readonly type: 'text' | 'integer' | 'list' | 'words' | 'switch';
  /** Reads the JSON value of a flag, a variable or a member of a config file. */
  readonly shape: Shape<Value>;
  /** Reads the value that code gives. */
  readonly codeShape: Shape<InCode>;
  readonly placeholder?: string;
  /** The command writes this file: a file that cannot be written is refused at the start. */
  readonly writes?: true;
}

/** An option: its flag, its environment variable, its member of a config file and of the library. */
export interface OptionShape<Value = unknown, InCode = Value, Command extends string = string>
  extends OptionKind<Value, InCode>,
    Member<Value, false> {
  readonly shape: Shape<Value>;
  readonly commands: readonly Command[];
  readonly excludes?: readonly string[];
  /** Servers that share sandboxes must have the same; what a start has, they must in any case. */
  readonly agrees?: true;
  /** What follows `--`, unless it is the name in kebab case. */
  readonly spelling?: string;
  /** What it means without a value. */
  readonly bare?: string;
  /** Its environment variable where a server does not take it. */
  readonly variable?: string;
}

export function optionFor<Command extends string>(...commands: readonly Command[]) {
  return <Value, InCode>(
    kind: OptionKind<Value, InCode>,
    description: string,
    more: { readonly default?: string | number } & Pick<
      OptionShape,
      'agrees' | 'excludes' | 'spelling' | 'variable' | 'bare'
    > = {},
  ): OptionShape<Value, InCode, Command> => {
    const byDefault = more.default === undefined ? '' : ` By default ${more.default}.`;
    const repeats = kind.type === 'list' || kind.type === 'words' ? ' Repeatable.' : '';
    const { default: _, ...rest } = more;
    return {
      ...kind,
      description: description + byDefault + repeats,
      required: false,
      commands,
      ...rest,
    };
  };
}

export function one<T>(placeholder: string, shape: Shape<T>): OptionKind<T> {
  return { type: 'text', shape, codeShape: shape, placeholder };
}

/** Values of a flag that can be repeated. A config file can have one alone instead of an array. */
export function many<T>(placeholder: string, shape: Shape<T>): OptionKind<readonly T[]> {
  return { type: 'list', shape: oneOrMore(shape, 0), codeShape: list(shape), placeholder };
}

export function words<T>(placeholder: string, shape: Shape<T>): OptionKind<T> {
  return { ...one(placeholder, shape), type: 'words' };
}

export function count(min: number, max: number, placeholder = 'N'): OptionKind<number> {
  return { ...one(placeholder, integer(min, max)), type: 'integer' };
}

/** Of records, exchanges or sandboxes. */
export const AMOUNT = count(0, MAX_RECORDS);

export function milliseconds(min: number, max: number): OptionKind<number> {
  return count(min, max, 'MS');
}

export function inMilliseconds(
  placeholder: string,
  shape: Shape<number>,
  codeShape: Shape<number>,
): OptionKind<number> {
  return { ...one(placeholder, shape), codeShape };
}

export const SEED = count(-(2 ** 31), 2 ** 31 - 1);

export const DELAY = milliseconds(0, MAX_DELAY_MS);

export const MAX_HOLD = inMilliseconds(
  'DURATION',
  HOLD_TIME,
  number(1, DAY_MS, 'milliseconds from 1 to a day'),
);

export const SANDBOX_IDLE = inMilliseconds(
  'DURATION',
  IDLE_TIME,
  number(1, Number.POSITIVE_INFINITY, 'milliseconds, at least 1'),
);

export const CLOCK = inMilliseconds(
  'INSTANT',
  INSTANT,
  number(0, LATEST, 'milliseconds since 1970'),
);

export const SWITCH: OptionKind<boolean> = { type: 'switch', shape: FLAG, codeShape: FLAG };

export const FILE = one('FILE', text());

export const OUTPUT: OptionKind<string> = { ...FILE, writes: true };

/** What can fail a run or a test: kinds of replies, `findings` for any finding, or one kind of them. */
export const FAILING_KINDS = [
  'assumed',
  'off-contract',
  'findings',
  ...FINDING_CODE_NAMES,
] as const;

export const FAIL_ON = list(choice(FAILING_KINDS));

export function isFailing(kind: string, failOn: readonly string[]): boolean {
  const isFinding = kind !== 'assumed' && kind !== 'off-contract';
  return failOn.includes(kind) || (isFinding && failOn.includes('findings'));
}

/** A text with a condition. The message does not show a mistyped secret, only what was `found`. */
export function textThat(expected: string, isRight: (value: string) => boolean, found?: string) {
  return convert(text(), (value, at, report) =>
    isRight(value) ? value : report({ at, expected, found: found ?? describe(value) }),
  );
}

export const KEYS = many('KEY', KEY);

export const TOKEN = one(
  'TOKEN',
  textThat(
    'a token of visible ASCII characters',
    (value) => VISIBLE.test(value),
    'another character in it',
  ),
);

export const ASSIGNMENTS = list(text('ID=OPTION, such as cancel-again=404', /=/, {}));

/** Options as ID=OPTION, or in an object by ID. The last one of an ID wins. */
export const ASSUMED = {
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
      // A file writes some options without quotes. Code passes on what it has.
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

/** A key or `all`, with the duration or the instant after which it has expired. */
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

/** API keys, as code gives them. */
export const KEY_LISTS = object({
  valid: optional(KEYS.codeShape, ''),
  readOnly: optional(KEYS.codeShape, ''),
  allReadOnly: optional(FLAG, ''),
  invalid: optional(either(choice(['all']), list(KEY)), ''),
  any: optional(FLAG, ''),
  expires: optional(EXPIRY_MAP, ''),
});

/** Environment variables, such as `process.env`. */
export const VARIABLES = scalar('an object of strings', {}, (value) => {
  const isRight = (text: unknown): boolean => text === undefined || typeof text === 'string';
  return isObject(value) && Object.values(value).every(isRight) ? value : undefined;
});

export function readAssignments(texts: readonly string[], at: ValuePath, report: ReportMisfit) {
  const options = texts.map((text) => /^([^=]*)=(.*)$/s.exec(text)?.slice(1) ?? []);
  return ASSUME.read(Object.fromEntries(options), [...at], report);
}

export const FUNCTION = scalar('a function', {}, (value) =>
  typeof value === 'function' ? value : undefined,
);

/**
 * @param shapes of the values that code gives, by the name of the option
 * @throws RangeError that names the first wrong option
 */
export function checkValues(
  options: object,
  shapes: Readonly<Record<string, Shape<unknown>>>,
  nameOf: (name: string) => string = String,
): void {
  const members = Object.entries(shapes).map(([name, shape]) => [name, optional(shape, '')]);
  const shape = object(Object.fromEntries(members), { expectedName: 'the name of an option' });
  const reading = readAs(shape, dropUndefined(options));
  if (!reading.ok) throw new RangeError(refusalText(reading.problems, nameOf));
}

/** Also within `keys`, whose members come from flags that may all be missing. */
function dropUndefined(options: object): object {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => [
      name,
      name === 'keys' && isObject(value) ? dropUndefined(value) : value,
    ]),
  );
}

export function refusalText(
  [problem]: readonly ShapeProblem[],
  nameOf: (name: string) => string,
): string {
  if (problem === undefined) return 'a value was refused without a reason';
  const { at, ofName, expected, found } = problem;
  const steps = (ofName ? at.slice(0, -1) : at).filter((step) => typeof step === 'string');
  const [name = 'options', ...inside] = steps;
  return `${[nameOf(name), ...inside].join(' ')}: expected ${expected}, found ${found}`;
}
