import { OPERATION_IDS, type OperationId, operationShape } from '../contract/operations.ts';
import { type Member, object, optional } from '../shape/objects.ts';
import {
  convert,
  oneOrMore,
  type ReportMisfit,
  type Shape,
  scalar,
  text,
  type ValuePath,
} from '../shape/shapes.ts';
import { joinWords, suggest } from '../words.ts';
import { headersOf } from './reply-shape.ts';

/** A scalar in a scenario. Integers that a double cannot represent are bigints. */
type WhereValue = string | number | bigint | boolean | null;

/** One condition of a rule on a call. */
export interface Condition {
  /** An input is a path or query parameter, or a field of the body. */
  readonly of: 'input' | 'header' | 'key';
  /** The name of the input or the header, a header in lower case. */
  readonly name: string;
  /** Any of these matches; null matches an absent value. */
  readonly values: readonly WhereValue[];
}

const VALUES = oneOrMore<WhereValue>(
  scalar(
    'a string, a number, true, false or null',
    { type: ['string', 'number', 'boolean', 'null'] },
    (value) => (isScalar(value) ? value : undefined),
  ),
);

function isScalar(value: unknown): value is WhereValue {
  return value === null || ['string', 'number', 'boolean', 'bigint'].includes(typeof value);
}

/** Undocumented inputs that an option of an assumption reads. */
const ASSUMED_INPUTS: Readonly<Partial<Record<OperationId, readonly string[]>>> = {
  listPets: ['cursor', 'offset'],
  createPet: ['id'],
};

function inputsOf(id: OperationId): readonly string[] {
  const { parameters, body } = operationShape(id);
  const documented = [...parameters.map(({ name }) => name), ...Object.keys(body?.fields ?? {})];
  return [...documented, ...(ASSUMED_INPUTS[id] ?? [])];
}

type ConditionsMember = Member<readonly Condition[]>;

function inputMember(name: string): ConditionsMember {
  const owners = OPERATION_IDS.filter((id) => inputsOf(id).includes(name));
  return optional(
    convert(VALUES, (values) => [{ of: 'input', name, values }]),
    `\`${name}\` of ${joinWords(owners, 'and')}. \`null\` matches an absent one.`,
  );
}

const INPUTS = [...new Set(OPERATION_IDS.flatMap(inputsOf))].sort();

/** The conditions of a rule on a call. All must match. */
export const WHERE: Shape<readonly Condition[]> = convert(
  object<Readonly<Record<string, ConditionsMember>>>(
    {
      ...Object.fromEntries(INPUTS.map((name) => [name, inputMember(name)])),
      headers: optional(
        convert(headersOf(VALUES), (headers) =>
          [...headers].map(([name, values]) => ({
            of: 'header',
            name: name.toLowerCase(),
            values,
          })),
        ),
        'Headers by name; the case does not matter. `null` matches an absent header.',
      ),
      key: optional(
        convert(oneOrMore(text()), (values) => [{ of: 'key', name: 'key', values }]),
        'API keys, without `Bearer` and without the sandbox name.',
      ),
    },
    { expected: 'an object of parameters and fields, `headers` and `key`' },
  ),
  (members) => Object.values(members).flatMap((conditions) => conditions ?? []),
);

/** Reports inputs that no operation of the rule has: such a rule could never match. */
export function reportForeignInputs(
  where: readonly Condition[],
  on: readonly OperationId[],
  at: ValuePath,
  report: ReportMisfit,
): boolean {
  const known = [...new Set(on.flatMap(inputsOf))];
  const foreign = where.filter(({ of, name }) => of === 'input' && !known.includes(name));
  for (const { name } of foreign) {
    const expected =
      known.length === 0
        ? `headers or key, since ${joinWords(on, 'and')} has no input`
        : `an input of ${joinWords(on, 'or')}: ${joinWords(known, 'or')}`;
    const hint = (): string => suggest(name, known);
    report({ at: [...at, name], ofName: true, expected, found: `"${name}"`, hint });
  }
  return foreign.length === 0;
}
