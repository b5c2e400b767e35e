import { OPERATION_IDS, type OperationId, operationShape } from '../contract/operations.ts';
import { numberText } from '../json.ts';
import { type Member, object, optional } from '../shape/objects.ts';
import { convert, type OneOrMore, oneOrMore, scalar, text } from '../shape/shapes.ts';
import { joinWords } from '../words.ts';
import { headersShape } from './reply-shape.ts';

type WhereValue = string | number | bigint | boolean | null;

export interface ConditionValue {
  readonly value: WhereValue;
  /** The value's text in a path, a query or a header; undefined to match an absent one. */
  readonly text: string | undefined;
}

export interface Condition {
  /** An `input` is a parameter of the path or the query, or a field of the body. */
  readonly of: 'input' | 'header' | 'key';
  /** The name of the parameter, of the field, or of the header in lower case. */
  readonly name: string;
  /** The condition holds for any of these values. Null matches an absent one. */
  readonly values: readonly ConditionValue[];
}

const isScalar = (value: unknown): value is WhereValue =>
  value === null || ['string', 'number', 'boolean', 'bigint'].includes(typeof value);

export const VALUES = oneOrMore(
  scalar<ConditionValue, WhereValue>(
    'a string, a number, true, false or null',
    { type: ['string', 'number', 'boolean', 'null'] },
    (value, written) =>
      isScalar(value)
        ? { value, text: value === null ? undefined : numberText(written) }
        : undefined,
  ),
);

export function listInputs(id: OperationId): readonly string[] {
  const { parameters, body, assumedInputs = [] } = operationShape(id);
  const documented = [
    ...parameters.map(({ name }) => name),
    ...Object.keys(body?.shape.members ?? {}),
  ];
  return [...documented, ...assumedInputs.map(({ name }) => name)];
}

type ConditionsMember = Member<
  readonly Condition[],
  boolean,
  OneOrMore<WhereValue> | Readonly<Record<string, OneOrMore<WhereValue>>>
>;

function inputMember(name: string): ConditionsMember {
  const owners = OPERATION_IDS.filter((id) => listInputs(id).includes(name));
  return optional(
    convert(VALUES, (values) => [{ of: 'input', name, values }]),
    `\`${name}\` of ${joinWords(owners, 'and')}. \`null\` matches an absent one.`,
  );
}

const INPUTS = [...new Set(OPERATION_IDS.flatMap(listInputs))].sort();

export const WHERE = convert(
  object<Readonly<Record<string, ConditionsMember>>>(
    {
      ...Object.fromEntries(INPUTS.map((name) => [name, inputMember(name)])),
      headers: optional(
        convert(headersShape(VALUES), (headers) =>
          [...headers].map(([name, values]) => ({
            of: 'header',
            name: name.toLowerCase(),
            values,
          })),
        ),
        'Headers by name; the case does not matter. `null` matches an absent header.',
      ),
      key: optional(
        convert(oneOrMore(text()), (keys) => [
          { of: 'key', name: 'key', values: keys.map((key) => ({ value: key, text: key })) },
        ]),
        'API keys, without `Bearer` and without the sandbox name.',
      ),
    },
    { expected: 'an object of parameters and fields, `headers` and `key`' },
  ),
  (members) => Object.values(members).flatMap((conditions) => conditions ?? []),
);
