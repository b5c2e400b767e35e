import { isObject, rowNames } from './contract/records.ts';
import {
  APP_OPTIONS,
  type AppOptions,
  CODE_OPTIONS,
  OPTIONS,
  type ServerOptions,
} from './options.ts';
import { object, optional } from './shape/objects.ts';
import { ANY, readAs, type Shape, type ShapeProblem } from './shape/shapes.ts';

export const OPTION_NAMES = [...rowNames(OPTIONS), ...rowNames(CODE_OPTIONS)];

const READERS: Readonly<Record<string, Shape<unknown>>> = {
  ...Object.fromEntries(rowNames(OPTIONS).map((name) => [name, OPTIONS[name].own])),
  ...CODE_OPTIONS,
};

type NameOption = (name: string) => string;

/** @throws RangeError that names the first wrong option */
export function checkOptions(
  options: object,
  nameOf: NameOption = String,
): asserts options is ServerOptions {
  check(options, OPTION_NAMES, nameOf);
}

/** The same for `createApp`, which listens nowhere. */
export function checkAppOptions(options: object): asserts options is AppOptions {
  check(options, APP_OPTIONS, String);
}

function check(options: object, names: readonly string[], nameOf: NameOption): void {
  const members = names.map((name) => [name, optional(READERS[name] ?? ANY, '')]);
  const shape = object(Object.fromEntries(members), { expectedName: 'the name of an option' });
  const isGiven = (name: string) => Reflect.get(options, name) !== undefined;
  const reading = readAs(shape, given(options));
  if (!reading.ok) throw new RangeError(refusalText(reading.problems, nameOf));
  for (const name of rowNames(OPTIONS)) {
    const other = OPTIONS[name].excludes?.find(isGiven);
    if (other === undefined || !isGiven(name)) continue;
    const both = `${nameOf(name)} and ${nameOf(other)}`;
    throw new RangeError(`${both} exclude each other: drop one of them`);
  }
}

/** The members that have a value. Those of `keys` come from flags, which may all be missing. */
function given(options: object): object {
  const members = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    members.map(([name, value]) => [
      name,
      name === 'keys' && isObject(value) ? given(value) : value,
    ]),
  );
}

export function refusalText([problem]: readonly ShapeProblem[], nameOf: NameOption): string {
  if (problem === undefined) return 'a value was refused without a reason';
  const { at, ofName, expected, found } = problem;
  const steps = (ofName ? at.slice(0, -1) : at).filter((step) => typeof step === 'string');
  const [name = 'options', ...inside] = steps;
  return `${[nameOf(name), ...inside].join(' ')}: expected ${expected}, found ${found}`;
}
