import { dirname, isAbsolute, join } from 'node:path';
import { readJson } from '../../contract/json.ts';
import { readText, SETTINGS_LIMIT } from '../../read-text.ts';
import { ASSUME } from '../../scenario/assume-shape.ts';
import { type Member, object, optional } from '../../shape/objects.ts';
import { placesIn } from '../../shape/places.ts';
import {
  convert,
  either,
  FLAG,
  integer,
  list,
  readAs,
  type Shape,
  text,
} from '../../shape/shapes.ts';
import { firstProblems, problemText } from '../../words.ts';
import { UsageError } from '../failures.ts';
import { type FlagName, flagShape, flagsFrom } from '../flags.ts';
import { type Given, type Layer, refusal } from './given.ts';

/** The values of a flag in a config file, as the text that the command line has. */
type Texts = readonly string[];

const TEXT: Shape<Texts> = convert(text(), (value) => [value]);

const LIST: Shape<Texts> = either(TEXT, list(text()), 'a string or an array of strings');

const OPTIONS: Shape<Texts> = either(
  convert(ASSUME, (assume) => Object.entries(assume).map(([id, option]) => `${id}=${option}`)),
  LIST,
  'an object of ID: "OPTION", or "ID=OPTION" in an array',
);

function valueShape(name: FlagName): Shape<Texts> {
  const { type, range = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] } = flagShape(name);
  switch (type) {
    case 'switch':
      return convert(FLAG, (value) => [String(value)]);
    case 'integer':
      return convert(integer(...range), (value) => [String(value)]);
    case 'text':
      return TEXT;
    case 'list':
      return name === 'assume' ? OPTIONS : LIST;
  }
}

const members = flagsFrom('config').map((name): [FlagName, Member<Texts>] => [
  name,
  optional(valueShape(name), flagShape(name).description),
]);

/** A config file: flags by name. */
export const CONFIG = object<Readonly<Record<string, Member<Texts>>>>(Object.fromEntries(members), {
  expected: 'an object of flags by name',
});

/**
 * The flags in a config file, a JSON object of flags by name. A relative path starts from the
 * file's folder.
 *
 * @param origin where the file was named
 * @throws UsageError if the file cannot be read, is not JSON, or has an unknown flag or a wrong value
 */
export async function fromConfigFile(file: string, origin: string): Promise<Layer> {
  const read = await readText(file, SETTINGS_LIMIT);
  if (!read.ok) throw refusal(origin, `a JSON file at ${file}`, read.found);
  const parsed = readJson(file, read.text);
  if (!parsed.ok) throw new UsageError(`config file ${parsed.problem}`);
  const reading = readAs(CONFIG, parsed.value);
  if (!reading.ok) {
    const paths = reading.problems.map(({ path }) => path);
    const places = placesIn(read.text, paths);
    const lines = reading.problems.map((it) =>
      problemText({ ...it, place: `config file ${file}:${places.get(it.path)}` }),
    );
    throw new UsageError(firstProblems(lines).join('\n'));
  }
  const layer = new Map<FlagName, Given>();
  for (const name of flagsFrom('config')) {
    const texts = reading.value[name]?.map((value) => beside(file, name, value));
    if (texts !== undefined) layer.set(name, { texts, origin: `config file ${file}: ${name}` });
  }
  return layer;
}

/** Flags whose value is the path of a file. */
const PATHS: readonly FlagName[] = ['db', 'coverage'];

/** Flags whose value is the path of a file or the name of a shipped one. */
const PATHS_OR_NAMES: readonly FlagName[] = ['fixture', 'scenario'];

/** Resolves a path against the folder of the config file. */
function beside(file: string, flag: FlagName, value: string): string {
  const isPath = PATHS.includes(flag) || (PATHS_OR_NAMES.includes(flag) && !/^[\w-]+$/.test(value));
  return isPath && !isAbsolute(value) ? join(dirname(file), value) : value;
}
