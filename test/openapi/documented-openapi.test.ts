import { describe, expect, test } from 'vitest';
import { OPERATION_IDS, operationShape } from '../../src/contract/operations.ts';
import { createServiceOpenApi, documentedOnly } from '../../src/openapi/service-openapi.ts';

const whole = createServiceOpenApi({ serverUrl: 'https://pets.example/v1', version: '0.0.0' });
const document = documentedOnly(whole);
const text = JSON.stringify(document);

describe('the document without assumptions', () => {
  test('has each documented reply of each operation, and no other', () => {
    const { paths } = Object(document);
    for (const id of OPERATION_IDS) {
      const { method, path, replies } = operationShape(id);
      const { operationId, responses } = paths[path][method.toLowerCase()];
      expect(operationId).toBe(id);
      expect(Object.keys(responses), id).toEqual(Object.keys(replies));
    }
  });

  test('does not mention the mock', () => {
    expect(text).not.toMatch(/assum|mock-basis|x-mock/i);
    expect(document).toMatchObject({
      openapi: '3.1.0',
      servers: [{ url: 'https://pets.example/v1' }, {}],
    });
  });

  test('resolves each reference, and has no unused component', () => {
    const { components } = Object(document);
    const used = [...text.matchAll(/#\/components\/(\w+)\/(\w+)/g)].map(
      ([, kind, name]) => `${kind}/${name}`,
    );
    const present = ['responses', 'schemas'].flatMap((kind) =>
      Object.keys(components[kind]).map((name) => `${kind}/${name}`),
    );
    expect([...new Set(used)].sort()).toEqual(present.sort());
  });
});
