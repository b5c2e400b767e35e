import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { jsonFault, parseJson } from '../contract/json.ts';
import { describe, isObject } from '../contract/records.ts';
import { listed, suggest } from '../store/read-store.ts';
import { codeOf, UsageError } from './errors.ts';
import { type FlagName, flagShape, flagsFrom, isFlagName } from './flags.ts';
import { type Given, type Layer, refusal } from './given.ts';

/**
 * The flags that a config file gives: a JSON object, each member named as the flag is. A relative
 * path in it starts from the file, not from where the program was started.
 *
 * @param origin where the file was named
 * @throws UsageError where the file cannot be read, is not JSON, or holds what is no flag
 */
export function fromConfigFile(file: string, origin: string): Layer {
  const document = parseDocument(file, readText(file, origin));
  if (!isObject(document)) {
    throw refusal(`config file ${file}`, 'an object with flags by their names', describe(document));
  }
  const known = flagsFrom('config');
  const layer = new Map<FlagName, Given>();
  for (const [name, value] of Object.entries(document)) {
    if (!isFlagName(name) || !known.includes(name)) {
      const expected = `one of ${listed(known, 'and')}`;
      throw refusal(`config file ${file}`, expected, `${describe(name)}${suggest(name, known)}`);
    }
    const place = `config file ${file}: ${name}`;
    const texts = textsOf(name, value, place);
    layer.set(name, {
      texts: name === 'fixture' ? texts.map(beside(file)) : texts,
      origin: place,
    });
  }
  return layer;
}

function readText(file: string, origin: string): string {
  try {
    const text = readFileSync(file, 'utf8');
    // Some editors begin a file with a byte order mark, which is no JSON.
    return text.startsWith('\uFEFF') ? text.slice(1) : text;
  } catch (error) {
    const code = codeOf(error);
    const found = code === 'ENOENT' ? 'no such file' : `one that cannot be read (${code})`;
    throw refusal(origin, `a JSON file at ${file}`, found);
  }
}

function parseDocument(file: string, text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new UsageError(`config file ${notJson(file, text)}`);
  }
}

function notJson(file: string, text: string): string {
  const fault = jsonFault(text);
  if (fault === undefined) return `${file}: expected JSON`;
  return `${file}:${fault.line}:${fault.column}: expected JSON: ${fault.why}`;
}

const EXPECTED = {
  text: 'a string',
  integer: 'an integer',
  list: 'a string or an array of strings',
  switch: 'true or false',
} as const;

const ASSIGNMENTS = 'an object of ID: "OPTION", or "ID=OPTION" in an array';

function textsOf(name: FlagName, value: unknown, origin: string): string[] {
  const { type } = flagShape(name);
  if (type === 'switch' && typeof value === 'boolean') return [String(value)];
  if (type === 'integer' && (typeof value === 'number' || typeof value === 'bigint')) {
    return [String(value)];
  }
  if ((type === 'text' || type === 'list') && typeof value === 'string' && value !== '') {
    return [value];
  }
  if (type === 'list' && Array.isArray(value) && value.every(isFilled)) return value;
  if (name === 'assume' && isObject(value) && Object.values(value).every(isOptionName)) {
    return Object.entries(value).map(([id, option]) => `${id}=${option}`);
  }
  throw refusal(origin, name === 'assume' ? ASSIGNMENTS : EXPECTED[type], describe(value));
}

/** Some options look like numbers, and are easily written as such. */
function isOptionName(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** A name stands for what is shipped; anything else is a path. */
function beside(file: string): (fixture: string) => string {
  return (fixture) =>
    /^[\w-]+$/.test(fixture) || isAbsolute(fixture) ? fixture : join(dirname(file), fixture);
}
