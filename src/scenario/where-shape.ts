import { OPERATION_IDS, type OperationId, operationShape } from '../contract/operations.ts';
import { type Member, mapOf, object, optional } from '../shape/objects.ts';
import {
  type At,
  convert,
  oneOrMore,
  type Shape,
  scalar,
  type Tell,
  text,
} from '../shape/shapes.ts';
import { listed, suggest } from '../words.ts';
import { HEADER_NAME } from './reply-shape.ts';
import type { Where, WhereValue } from './scenario.ts';

const SCALAR: Shape<WhereValue> = scalar({
  kinds: ['string', 'number', 'boolean', 'null'],
  expected: 'a string, a number, true, false or null',
  schema: { type: ['string', 'number', 'boolean', 'null'] },
  read: (value) => (isScalar(value) ? value : undefined),
});

function isScalar(value: unknown): value is WhereValue {
  if (typeof value === 'number') return Number.isFinite(value);
  return value === null || ['string', 'boolean', 'bigint'].includes(typeof value);
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

const INPUTS = [...new Set(OPERATION_IDS.flatMap(inputsOf))].sort();

const VALUES = oneOrMore(SCALAR);

/** One member of `where`. */
type Wanted =
  | { readonly of: 'input'; readonly values: readonly WhereValue[] }
  | { readonly of: 'headers'; readonly headers: ReadonlyMap<string, readonly WhereValue[]> }
  | { readonly of: 'key'; readonly keys: readonly string[] };

const HEADERS = mapOf(VALUES, {
  expected: 'an object of headers by name',
  name: HEADER_NAME,
  expectedName: 'a header name',
});

/** The conditions of a rule on a call. */
export const WHERE: Shape<Where> = convert(
  object<Readonly<Record<string, Member<Wanted>>>>(
    {
      ...inputMembers(),
      headers: optional(
        convert(HEADERS, (headers) => ({ of: 'headers', headers })),
        'Headers by name; the case does not matter. `null` matches an absent header.',
      ),
      key: optional(
        convert(oneOrMore(text()), (keys) => ({ of: 'key', keys })),
        'API keys, without `Bearer` and without the sandbox name.',
      ),
    },
    { expected: 'an object of parameters and fields, `headers` and `key`' },
  ),
  (members) => {
    const inputs = new Map<string, readonly WhereValue[]>();
    let headers: Where['headers'] = new Map();
    let keys: Where['keys'];
    for (const [name, wanted] of Object.entries(members)) {
      if (wanted?.of === 'input') inputs.set(name, wanted.values);
      if (wanted?.of === 'headers') headers = lowerCased(wanted.headers);
      if (wanted?.of === 'key') keys = wanted.keys;
    }
    return { inputs, headers, keys };
  },
);

function inputMembers(): Readonly<Record<string, Member<Wanted>>> {
  const members = INPUTS.map((name) => {
    const owners = OPERATION_IDS.filter((id) => inputsOf(id).includes(name));
    const description = `\`${name}\` of ${listed(owners, 'and')}. \`null\` matches an absent one.`;
    const shape = convert(VALUES, (values): Wanted => ({ of: 'input', values }));
    return [name, optional(shape, description)] as const;
  });
  return Object.fromEntries(members);
}

function lowerCased<T>(headers: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  return new Map([...headers].map(([name, values]) => [name.toLowerCase(), values]));
}

/** Reports inputs that none of a rule's operations has: the rule could never match. */
export function tellForeignInputs(
  names: readonly string[],
  on: readonly OperationId[],
  at: At,
  tell: Tell,
): boolean {
  const known = [...new Set(on.flatMap(inputsOf))];
  const foreign = names.filter((name) => !known.includes(name));
  for (const name of foreign) {
    const expected =
      known.length === 0
        ? `headers or key, since ${listed(on, 'and')} has no input`
        : `an input of ${listed(on, 'or')}: ${listed(known, 'or')}`;
    tell({ at: [...at, name], ofName: true, expected, found: `"${name}"${suggest(name, known)}` });
  }
  return foreign.length === 0;
}
