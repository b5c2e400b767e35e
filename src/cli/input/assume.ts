import {
  type AssumptionId,
  type Choices,
  isAssumptionId,
  isOption,
} from '../../contract/assumption-table.ts';
import { ASSUME } from '../../scenario/assume-shape.ts';
import { readAs } from '../../shape/shapes.ts';
import { describe } from '../../words.ts';
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
  return texts.map((text) => assignment(text, origin));
}

function assumedIn(layer: Layer): Record<string, string> {
  const given = layer.get('assume');
  const assumed: Record<string, string> = Object.fromEntries(given ? assignments(given) : []);
  const shorthand = layer.get('rate-limit');
  if (shorthand === undefined) return assumed;
  const rate = onlyText(shorthand);
  const reading = readAs(ASSUME, { 'rate-limit': rate });
  for (const { expected, found } of reading.ok ? [] : reading.problems) {
    throw refusal(shorthand.origin, expected, found);
  }
  const other = assumed['rate-limit'] ?? rate;
  if (other !== rate) {
    throw new UsageError(
      `${shorthand.origin} says ${rate} and ${given?.origin} says rate-limit=${other}: drop one of them`,
    );
  }
  return { ...assumed, 'rate-limit': rate };
}

/** Reads ID=OPTION. */
function assignment(text: string, origin: string): [AssumptionId, string] {
  const [, id, option] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  if (id === undefined || option === undefined) {
    throw refusal(origin, 'ID=OPTION, such as cancel-again=404', describe(text));
  }
  const reading = readAs(ASSUME, { [id]: option });
  if (reading.ok && isAssumptionId(id)) return [id, option];
  const [problem] = reading.ok ? [] : reading.problems;
  const { ofName = false, expected = '', found = '' } = problem ?? {};
  throw refusal(ofName ? origin : `${origin} ${id}`, expected, found);
}
