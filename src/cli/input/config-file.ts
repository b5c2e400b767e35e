import { dirname, isAbsolute, join } from 'node:path';
import { readJson } from '../../contract/json.ts';
import { isObject } from '../../contract/records.ts';
import { readText, SETTINGS_LIMIT } from '../../read-text.ts';
import { describe, listed, suggest } from '../../words.ts';
import { UsageError } from '../failures.ts';
import { type FlagName, flagShape, flagsFrom, isFlagName } from '../flags.ts';
import { type Given, type Layer, refusal } from './given.ts';

/**
 * The flags in a config file, a JSON object with flags by name. A relative path in it starts from
 * the file's folder.
 *
 * @param origin where the file was named
 * @throws UsageError where the file cannot be read, is not JSON, or holds what is no flag
 */
export async function fromConfigFile(file: string, origin: string): Promise<Layer> {
  const read = await readText(file, SETTINGS_LIMIT);
  if (!read.ok) throw refusal(origin, `a JSON file at ${file}`, read.found);
  const reading = readJson(file, read.text);
  if (!reading.ok) throw new UsageError(`config file ${reading.problem}`);
  const document = reading.value;
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
    layer.set(name, { texts: texts.map((text) => beside(file, name, text)), origin: place });
  }
  return layer;
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

/** Some options look like numbers and are easily written as such. */
function isOptionName(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Flags whose value is the path of a file. */
const PATHS: readonly FlagName[] = ['db', 'coverage'];

/** Flags whose value is the path of a file, or the name of one that ships. */
const PATHS_OR_NAMES: readonly FlagName[] = ['fixture', 'scenario'];

/** A value of a config file, with a path in it resolved against the file's folder. */
function beside(file: string, flag: FlagName, text: string): string {
  const isPath = PATHS.includes(flag) || (PATHS_OR_NAMES.includes(flag) && !/^[\w-]+$/.test(text));
  return isPath && !isAbsolute(text) ? join(dirname(file), text) : text;
}
