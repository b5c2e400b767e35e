import { readText, SETTINGS_LIMIT } from '../../read-text.ts';
import type { Checked } from '../../scenario/checked-shape.ts';
import { readAs } from '../../shape/read-as.ts';
import type { ShapeProblem } from '../../shape/shapes.ts';
import { describe, listed, suggest } from '../../words.ts';
import type { CommandName } from '../command-table.ts';
import { UsageError } from '../failures.ts';
import {
  FLAG_VALUES,
  type FlagName,
  type Flags,
  flagShape,
  flagsOf,
  isFlagName,
  spellingOf,
} from '../flags.ts';

/** A flag as one place gives it. */
interface Given {
  /** The value as JSON. */
  readonly value: unknown;
  /** The place, for messages: `--port`, `environment variable PETSTORE_MOCK_PORT`. */
  readonly origin: string;
}

/** The flags that one place gives: the command line, the environment or a config file. */
export type Layer = ReadonlyMap<FlagName, Given>;

/** The flags that a command was given, from all places. */
export interface Settings {
  readonly flags: Flags;
  /** Where a flag was given, for messages. */
  readonly originOf: (name: FlagName) => string;
  /** What a check of a deployment found out, if it saved the config file. */
  readonly checked?: Checked | undefined;
}

/** The error for a wrong value. */
export function refusal(origin: string, expected: string, found: string): UsageError {
  return new UsageError(`${origin}: expected ${expected}, found ${found}`);
}

/**
 * The certificate in the file that a flag names.
 *
 * @throws UsageError if it cannot be read
 */
export async function certificateOf(
  flag: 'ca' | 'cacert',
  { flags, originOf }: Settings,
): Promise<string | undefined> {
  const file = flags[flag];
  if (file === undefined) return undefined;
  const read = await readText(file, SETTINGS_LIMIT);
  if (!read.ok) throw refusal(originOf(flag), 'a certificate in PEM', read.found);
  return read.text;
}

/**
 * Finds the word that a text is.
 *
 * @throws UsageError with the nearest word
 */
export function oneOf<Word extends string>(
  words: readonly Word[],
  text: string,
  origin: string,
  expected = listed(words, 'or'),
): Word {
  const word = words.find((it) => it === text);
  if (word !== undefined) return word;
  throw refusal(origin, expected, `${describe(text)}${suggest(text, words)}`);
}

/** Decimal digits only: 1e3 and 0x10 are most likely mistakes. */
const INTEGER = /^[+-]?\d{1,15}$/;

const SWITCH: Readonly<Record<string, boolean>> = { true: true, 1: true, false: false, 0: false };

/**
 * Converts a flag given as text to JSON. Text that does not convert stays, so that the error shows it.
 *
 * @throws UsageError if the flag is repeated and must not be
 */
export function givenAs(name: FlagName, texts: readonly string[], origin: string): Given {
  const { type } = flagShape(name);
  if (type === 'list') return { value: texts, origin };
  if (type === 'words') {
    return { value: texts.flatMap((text) => text.split(',')).map((it) => it.trim()), origin };
  }
  const [text = '', ...others] = texts;
  if (others.length > 0) {
    const all = texts.map(describe).join(', ');
    throw new UsageError(
      `${origin} can be given only once, but was given ${texts.length} times: ${all}`,
    );
  }
  if (type === 'switch') return { value: SWITCH[text.toLowerCase()] ?? text, origin };
  return { value: type === 'integer' && INTEGER.test(text) ? Number(text) : text, origin };
}

/**
 * Reads the flags of a command. A place wins over those after it, flag by flag; assumptions are
 * merged, one by one, and `--rate-limit` wins over the same in `--assume`.
 *
 * @throws UsageError for a wrong value
 */
export function readSettings(command: CommandName, layers: readonly Layer[]): Settings {
  const origins = new Map<FlagName, string>();
  let flags: Flags = {};
  for (const layer of layers.toReversed()) {
    const own = new Map([...layer].filter(([name]) => flagsOf(command).includes(name)));
    const read = flagsIn(own);
    flags = {
      ...flags,
      ...read,
      assume: { ...flags.assume, ...read.assume, ...read.rateLimit },
    };
    for (const [name, { origin }] of own) origins.set(name, origin);
  }
  return { flags, originOf: (name) => origins.get(name) ?? `--${spellingOf(name)}` };
}

function flagsIn(layer: Layer): Flags {
  const values = [...layer].map(([name, { value }]) => [name, value]);
  const reading = readAs(FLAG_VALUES, Object.fromEntries(values));
  if (!reading.ok) throw wrongValue(layer, reading.problems);
  return reading.value;
}

function wrongValue(layer: Layer, [problem]: readonly ShapeProblem[]): Error {
  if (problem === undefined) return new TypeError('A value was refused without a reason.');
  const { at, ofName, expected, found } = problem;
  const [flag = '', ...inside] = at.filter((step) => typeof step === 'string');
  const origin = isFlagName(flag) ? layer.get(flag)?.origin : flag;
  return refusal([origin, ...(ofName ? [] : inside)].join(' '), expected, found);
}
