import { isObject, type Json } from '../../core/json.ts';

const OF_THE_MOCK = /^(?:x-mock-.*|Mock-?Basis)$/;

/** Removes all that is assumed or of the mock, to generate clients of the real service. */
export function documentedOnly(document: Json): Json {
  const isAssumed = (part: unknown): boolean => {
    if (!isObject(part)) return false;
    return part['x-mock-basis'] === 'assumed' || isAssumed(resolveRef(part, document));
  };
  const strip = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(strip);
    if (!isObject(part)) return part;
    const entries = Object.entries(part)
      .filter(([name, member]) => !OF_THE_MOCK.test(name) && !isAssumed(member))
      .map(([name, member]) => [name, strip(member)] as const);
    return Object.fromEntries(
      entries.filter(
        ([name, member]) => !CONTAINERS.has(name) || Object.keys(Object(member)).length > 0,
      ),
    );
  };
  const { info, ...rest } = Object(strip(document));
  return { ...rest, info: { ...info, description: 'The pet store service.' } };
}

/** Members that are removed when they become empty. */
const CONTAINERS = new Set(['content', 'headers', 'examples']);

function resolveRef({ $ref }: Json, document: Json): unknown {
  if (typeof $ref !== 'string') return undefined;
  return $ref
    .split('/')
    .slice(1)
    .reduce<unknown>((part, name) => (isObject(part) ? part[name] : undefined), document);
}
