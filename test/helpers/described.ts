import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import type { Answer } from './wire.ts';

/** Checks that a reply is as an OpenAPI document describes it. */
export function describedBy({
  components,
}: {
  readonly components: { readonly responses: object };
}) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  /** Compiled once for each reply of an operation. */
  const validators = new Map<string, ValidateFunction>();
  return (id: string, responses: object, { status, headers, text }: Answer): void => {
    expect(Object.keys(responses), id).toContain(`${status}`);
    if (headers['content-type'] !== 'application/json') return;
    const { $ref = '', ...own } = Object(responses)[status];
    const described = $ref === '' ? own : Object(components.responses)[$ref.split('/')[3]];
    const { schema } = described.content['application/json'];
    const name = `${id} ${status}`;
    const validate = validators.get(name) ?? ajv.compile({ ...schema, components });
    validators.set(name, validate);
    expect(validate(JSON.parse(text)), `${name} ${ajv.errorsText(validate.errors)}`).toBe(true);
  };
}
