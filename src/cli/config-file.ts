import { dirname, isAbsolute, join } from 'node:path';
import { isObject } from '../contract/records.ts';
import { readText, SETTINGS_LIMIT } from '../read-text.ts';
import { SAVED_VERDICTS, type SavedVerdicts } from '../scenario/verdict-shapes.ts';
import { readJson } from '../shape/json-text.ts';
import { object, optional } from '../shape/objects.ts';
import { locateProblems, problemLines, type TextProblem } from '../shape/places.ts';
import { readAs } from '../shape/read-as.ts';
import { firstProblems } from '../words.ts';
import { refusal, UsageError } from './command.ts';
import { type FlagName, flagShape, flagsFrom, spellingOf } from './flags.ts';
import type { Layer } from './settings.ts';

const NAMES = flagsFrom('config');

const FLAGS = Object.fromEntries(NAMES.map((name) => [spellingOf(name), flagShape(name)]));

/** A config file: flags by name, and what `check --save` adds. */
export const CONFIG = object(
  { ...FLAGS, checked: optional(SAVED_VERDICTS, 'What a check of a deployment found out.') },
  { expected: 'an object of flags by name' },
);

interface ConfigFile {
  readonly layer: Layer;
  readonly checked: SavedVerdicts | undefined;
}

/**
 * Reads a config file: a JSON object of flags by name. Relative paths start from the file's folder.
 *
 * @param origin where the file was named
 * @throws UsageError if the file cannot be read, is not JSON, or has an unknown flag or a wrong value
 */
export async function fromConfigFile(file: string, origin: string): Promise<ConfigFile> {
  const read = await readText(file, SETTINGS_LIMIT);
  if (!read.ok) throw refusal(origin, `a JSON file at ${file}`, read.found);
  const parsed = readJson(read.text);
  if (!parsed.ok) throw refused(file, parsed.problems);
  const { source } = parsed;
  const reading = readAs(CONFIG, source.value);
  if (!reading.ok) throw refused(file, locateProblems(source, reading.problems));
  const values = isObject(source.value) ? source.value : {};
  const layer: Layer = new Map(
    NAMES.filter((name) => spellingOf(name) in reading.value).map((name) => {
      const spelling = spellingOf(name);
      const value = beside(file, name, values[spelling]);
      return [name, { value, origin: `config file ${file}: ${spelling}` }];
    }),
  );
  return { layer, checked: reading.value.checked };
}

function refused(file: string, problems: readonly TextProblem[]): UsageError {
  return new UsageError(
    firstProblems(problemLines(`config file ${file}`, problems), String).join('\n'),
  );
}

/** Resolves the paths in a flag's value against the folder of the config file. */
function beside(file: string, flag: FlagName, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((it: unknown) => beside(file, flag, it));
  const { value: placeholder, ships = false } = flagShape(flag);
  if (placeholder !== 'FILE' || typeof value !== 'string' || isAbsolute(value)) return value;
  return ships && /^[\w-]+$/.test(value) ? value : join(dirname(file), value);
}
