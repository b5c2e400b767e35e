import { isIntegerText } from '../contract/int64.ts';
import type { Json } from '../contract/json.ts';
import { isObject, type Problem, type Reading } from '../contract/records.ts';
import { readAs } from '../shape/read-as.ts';
import type { Shape } from '../shape/shapes.ts';

/** A parameter of a query. */
export interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly schema: Json;
}

/** The parameters of a query, from the members of its shape. */
export function parametersOf({ schema }: Shape<unknown>): readonly Parameter[] {
  return Object.entries(propertiesOf(schema)).map(([name, property]) => {
    const { description, ...rest } = Object(property);
    return { name, description: String(description), schema: rest };
  });
}

/** Reads a query as an object. Converts the text of integers and booleans first. */
export function readQueryAs<T>(shape: Shape<T>, query: URLSearchParams): Reading<T> {
  const properties = propertiesOf(shape.schema);
  const values = new Map<string, unknown>();
  const repeated = new Set<string>();
  for (const [name, text] of query) {
    const type = Object.hasOwn(properties, name) ? Object(properties[name]).type : undefined;
    if (values.has(name)) repeated.add(name);
    values.set(name, typed(type, text));
  }
  if (repeated.size > 0) return { ok: false, problems: [...repeated].map(notOnce) };
  const reading = readAs(shape, Object.fromEntries(values));
  if (reading.ok) return reading;
  const problems = reading.problems.map((it) => ({ ...it, path: `query ${it.at.join('.')}` }));
  return { ok: false, problems };
}

function notOnce(name: string): Problem {
  return { path: `query ${name}`, expected: 'one value', found: 'several' };
}

function propertiesOf({ properties }: Shape<unknown>['schema']): Readonly<Record<string, unknown>> {
  return isObject(properties) ? properties : {};
}

function typed(type: unknown, text: string): unknown {
  if (type === 'integer' && isIntegerText(text)) return Number(text);
  // `?all` is short for `?all=true`.
  if (type === 'boolean' && ['', 'true', 'false'].includes(text)) return text !== 'false';
  return text;
}
