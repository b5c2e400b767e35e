import {
  ASSUMPTION_IDS,
  ASSUMPTIONS,
  type AssumptionId,
  isAssumptionId,
  isOption,
  type Option,
} from '../contract/assumptions.ts';
import { describe } from '../contract/records.ts';
import { listed, suggest } from '../store/read-store.ts';
import { UsageError } from './errors.ts';
import { type Given, type Layer, type Layers, onlyText, refusal } from './given.ts';

/** The options that were asked for in place of defaults. */
export type Assumed = { [Id in AssumptionId]?: Option<Id> };

/**
 * The options asked for. They add up: a place that wins over another changes only the assumptions
 * that it names, and within one place a later one wins.
 *
 * @throws UsageError where there is no such assumption or option
 */
export function assumedBy(layers: Layers): Assumed {
  const assumed: Assumed = {};
  for (const layer of layers.toReversed()) Object.assign(assumed, assumedIn(layer));
  return assumed;
}

function assumedIn(layer: Layer): Assumed {
  const assumed: Assumed = {};
  const given = layer.get('assume');
  for (const text of given?.texts ?? []) {
    const { id, option } = splitAssignment(text, given?.origin ?? '');
    assume(assumed, id, option, `${given?.origin} ${id}`);
  }
  const shorthand = layer.get('rate-limit');
  if (shorthand === undefined) return assumed;
  const rate = onlyText(shorthand);
  const other = assumed['rate-limit'];
  if (other !== undefined && other !== rate) throw contradiction(shorthand, rate, given, other);
  assume(assumed, 'rate-limit', rate, shorthand.origin);
  return assumed;
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

function assume<Id extends AssumptionId>(
  assumed: Assumed,
  id: Id,
  option: string,
  origin: string,
): void {
  if (!isOption(id, option)) {
    const names: readonly string[] = ASSUMPTIONS[id].options.map(({ name }) => name);
    const expected =
      id === 'rate-limit' ? 'none, or a rate such as 10/s or 600/m' : listed(names, 'or');
    throw refusal(origin, expected, `${describe(option)}${suggest(option, names)}`);
  }
  assumed[id] = option;
}

function contradiction(
  shorthand: Given,
  rate: string,
  given: Given | undefined,
  other: string,
): UsageError {
  return new UsageError(
    `${shorthand.origin} says ${rate}, and ${given?.origin} says rate-limit=${other}: drop one of them`,
  );
}
