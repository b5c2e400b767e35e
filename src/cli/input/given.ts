import { describe, listed, suggest } from '../../words.ts';
import { UsageError } from '../failures.ts';
import { type FlagName, type FlagOf, flagShape } from '../flags.ts';

/** A flag as it was given, still text: values are checked the same way wherever they come from. */
export interface Given {
  readonly texts: readonly string[];
  /** The place, for messages: `--port`, `environment variable PETSTORE_MOCK_PORT`. */
  readonly origin: string;
}

/** The flags that were given in one place. */
export type Layer = ReadonlyMap<FlagName, Given>;

/** The places in order of precedence: command line, environment, config file. */
export type Layers = readonly Layer[];

/** The error for a wrong value. */
export function refusal(origin: string, expected: string, found: string): UsageError {
  return new UsageError(`${origin}: expected ${expected}, found ${found}`);
}

/**
 * The word that a text is.
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

export function givenAs(layers: Layers, name: FlagName): Given | undefined {
  return layers.find((layer) => layer.has(name))?.get(name);
}

/** Where a flag was given, for messages. */
export function originOf(layers: Layers, name: FlagName): string {
  return givenAs(layers, name)?.origin ?? `--${name}`;
}

export function listOf(layers: Layers, name: FlagOf<'list'>): readonly string[] | undefined {
  return givenAs(layers, name)?.texts;
}

export function textOf(layers: Layers, name: FlagOf<'text'>): string | undefined {
  const given = givenAs(layers, name);
  return given === undefined ? undefined : onlyText(given);
}

export function isOn(layers: Layers, name: FlagOf<'switch'>): boolean {
  const given = givenAs(layers, name);
  if (given === undefined) return false;
  const text = onlyText(given).toLowerCase();
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  throw refusal(given.origin, 'true, false, 1 or 0', describe(text));
}

/** Decimal digits only: 1e3 and 0x10 are most likely mistakes. */
const INTEGER = /^[+-]?\d{1,15}$/;

export function integerOf(layers: Layers, name: FlagOf<'integer'>): number | undefined {
  const given = givenAs(layers, name);
  if (given === undefined) return undefined;
  const text = onlyText(given);
  const [min, max] = flagShape(name).range ?? [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
  const value = INTEGER.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw refusal(given.origin, `an integer from ${min} to ${max}`, describe(text));
}

/** The text of a flag that can be given once. */
export function onlyText({ texts, origin }: Given): string {
  const [text = '', ...others] = texts;
  if (others.length === 0) return text;
  throw refusal(origin, 'it once', `it ${texts.length} times: ${texts.map(describe).join(', ')}`);
}
