import {
  ASSUMPTION_IDS,
  type AssumptionId,
  type Choices,
  isAssumptionId,
  isOption,
  optionNames,
} from '../../contract/assumption-table.ts';
import { describe, listed, suggest } from '../../words.ts';
import { UsageError } from '../failures.ts';
import type { FlagOf } from '../flags.ts';
import { type Given, givenAs, type Layer, type Layers, onlyText, refusal } from './given.ts';

/** The options that were chosen, defaults included. */
export type Assumed = Partial<Choices>;

/**
 * The chosen options. Places add up: one that wins over another changes only the assumptions that
 * it names. Within a place the last one wins.
 *
 * @throws UsageError for an unknown assumption or option
 */
export function assumedBy(layers: Layers): Assumed {
  const assumed: Record<string, string> = {};
  for (const layer of layers.toReversed()) Object.assign(assumed, assumedIn(layer));
  if (!isAssumed(assumed)) throw new TypeError('An option has not been checked.');
  return assumed;
}

function isAssumed(assumed: Readonly<Record<string, string>>): assumed is Assumed {
  return Object.entries(assumed).every(
    ([id, option]) => isAssumptionId(id) && isOption(id, option),
  );
}

/**
 * The options that a flag lists as ID=OPTION, repeated or separated by commas.
 *
 * @throws UsageError for an unknown assumption or option
 */
export function assignmentsIn(layers: Layers, flag: FlagOf<'list'>): [AssumptionId, string][] {
  const given = givenAs(layers, flag);
  if (given === undefined) return [];
  const texts = given.texts.flatMap((text) => text.split(',')).map((text) => text.trim());
  return assignments({ ...given, texts });
}

function assignments({ texts, origin }: Given): [AssumptionId, string][] {
  return texts.map((text) => {
    const { id, option } = splitAssignment(text, origin);
    requireOption(id, option, `${origin} ${id}`);
    return [id, option];
  });
}

function assumedIn(layer: Layer): Record<string, string> {
  const given = layer.get('assume');
  const assumed: Record<string, string> = Object.fromEntries(given ? assignments(given) : []);
  const shorthand = layer.get('rate-limit');
  if (shorthand === undefined) return assumed;
  const rate = onlyText(shorthand);
  requireOption('rate-limit', rate, shorthand.origin);
  const other = assumed['rate-limit'] ?? rate;
  if (other !== rate) {
    throw new UsageError(
      `${shorthand.origin} says ${rate} and ${given?.origin} says rate-limit=${other}: drop one of them`,
    );
  }
  return { ...assumed, 'rate-limit': rate };
}

function splitAssignment(text: string, origin: string): { id: AssumptionId; option: string } {
  const [, id, option] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  if (id === undefined || option === undefined) {
    throw refusal(origin, 'ID=OPTION, such as cancel-again=404', describe(text));
  }
  if (isAssumptionId(id)) return { id, option };
  throw refusal(
    origin,
    'an assumption that "petstore-mock assumptions" lists',
    `${describe(id)}${suggest(id, ASSUMPTION_IDS)}`,
  );
}

function requireOption(id: AssumptionId, option: string, origin: string): void {
  if (isOption(id, option)) return;
  const names = optionNames(id);
  const expected =
    id === 'rate-limit' ? 'none, or a rate such as 10/s or 600/m' : listed(names, 'or');
  throw refusal(origin, expected, `${describe(option)}${suggest(option, names)}`);
}
