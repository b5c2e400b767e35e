import type { AssumptionId, Choices } from '../../contract/assumption-table.ts';
import { ASSUME } from '../../scenario/assume-shape.ts';
import { readAs } from '../../shape/shapes.ts';
import { describe } from '../../words.ts';
import { UsageError } from '../failures.ts';
import type { FlagOf } from '../flags.ts';
import { givenAs, type Layer, type Layers, onlyText, refusal } from './given.ts';

/** The options that were chosen, defaults included. */
export type Assumed = Partial<Choices>;

/**
 * The chosen options. Places add up: one that wins over another changes only the assumptions that
 * it names. Within a place the last one wins.
 *
 * @throws UsageError for an unknown assumption or option
 */
export function assumedBy(layers: Layers): Assumed {
  const reading = readAs(ASSUME, Object.assign({}, ...layers.toReversed().map(assumedIn)));
  if (!reading.ok) throw new TypeError('An option has not been checked.');
  return reading.value;
}

/**
 * The options that a flag lists as ID=OPTION, repeated or separated by commas.
 *
 * @throws UsageError for an unknown assumption or option
 */
export function assignmentsIn(layers: Layers, flag: FlagOf<'list'>): [AssumptionId, string][] {
  const { texts, origin } = givenAs(layers, flag) ?? { texts: [], origin: '' };
  return texts.flatMap((text) => text.split(',').map((it) => assignment(it.trim(), origin)));
}

function assumedIn(layer: Layer): Record<string, string> {
  const { texts, origin } = layer.get('assume') ?? { texts: [], origin: '' };
  const assumed: Record<string, string> = Object.fromEntries(
    texts.map((text) => assignment(text, origin)),
  );
  const shorthand = layer.get('rate-limit');
  if (shorthand === undefined) return assumed;
  const rate = onlyText(shorthand);
  requireOption('rate-limit', rate, shorthand.origin, shorthand.origin);
  const other = assumed['rate-limit'] ?? rate;
  if (other !== rate) {
    throw new UsageError(
      `${shorthand.origin} says ${rate} and ${origin} says rate-limit=${other}: drop one of them`,
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
  requireOption(id, option, origin, `${origin} ${id}`);
  return [id, option];
}

/** @throws UsageError for an id that is no assumption, or what is no option of it */
function requireOption(
  id: string,
  option: string,
  placeOfId: string,
  placeOfOption: string,
): asserts id is AssumptionId {
  const reading = readAs(ASSUME, { [id]: option });
  for (const { ofName, expected, found } of reading.ok ? [] : reading.problems) {
    throw refusal(ofName ? placeOfId : placeOfOption, expected, found);
  }
}
