import { describe, expect, test } from 'vitest';
import { documentedOnly } from '../../src/contract/documented-openapi.ts';
import { OPERATION_IDS, operationShape } from '../../src/contract/operations.ts';
import { serviceOpenApi } from '../../src/contract/service-openapi.ts';

const whole = serviceOpenApi({ serverUrl: 'https://pets.example/v1', version: '0.0.0' });
const document = documentedOnly(whole);
const text = JSON.stringify(document);

describe('the document without what is assumed', () => {
  test('has each documented reply of each operation, and no other', () => {
    const { paths } = Object(document);
    for (const id of OPERATION_IDS) {
      const { method, path, replies } = operationShape(id);
      const { operationId, responses } = paths[path][method.toLowerCase()];
      expect(operationId).toBe(id);
      expect(Object.keys(responses), id).toEqual(Object.keys(replies));
    }
  });

  test('has no body where the document shows none, and no header that it does not name', () => {
    const conflict = Object(document).paths['/store/orders/{orderId}'].delete.responses[409];
    expect(Object.keys(conflict)).toEqual(['description']);
    expect(text).not.toContain('"headers"');
  });

  test('does not tell that a mock wrote it', () => {
    expect(text).not.toMatch(/assum|mock-basis|x-mock/i);
    expect(document).toMatchObject({
      openapi: '3.1.0',
      servers: [{ url: 'https://pets.example/v1' }, {}],
    });
  });

  test('leads each reference to something, and has nothing that none leads to', () => {
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
