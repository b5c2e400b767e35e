import { Ajv2020 } from 'ajv/dist/2020.js';
import request from 'supertest';
import { describe, expect, test } from 'vitest';
import { isObject } from '../../src/contract/records.ts';
import { controlOpenApi } from '../../src/control/control-openapi.ts';
import { ENDPOINTS } from '../../src/control/endpoints.ts';
import { createApp } from '../../src/index.ts';
import { serviceOpenApi } from '../../src/openapi/service-openapi.ts';
import { serverFor } from '../helpers/deployment.ts';

const document = controlOpenApi(ENDPOINTS, { serverUrl: '/__mock', version: '0.0.0' });

describe('the OpenAPI document of the control API', () => {
  test('is served by each sandbox with its own server URL', async () => {
    const app = createApp();
    const { body } = await request(app).get('/__mock/openapi.json').expect(200);
    expect(body.servers[0].url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/__mock$/);
    expect(Object.keys(body.paths)).toEqual([...new Set(ENDPOINTS.map(({ path }) => path))]);
    const other = await request(app).get('/~a/__mock/openapi.json').expect(200);
    expect(other.body.servers[0].url).toMatch(/\/~a\/__mock$/);
    expect(Object.keys(other.body.paths)).not.toContain('/sandboxes');
  });

  test('gives each endpoint a unique operation id', () => {
    const ids = ENDPOINTS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  const gets = ENDPOINTS.flatMap(({ method, path, replies: { 200: reply } }) => {
    if (method !== 'get' || typeof reply !== 'object') return [];
    if (!('shape' in reply)) return [{ path, schema: reply.schema }];
    return reply.mediaType === undefined ? [{ path, schema: reply.shape.schema }] : [];
  });

  test.each(gets)('describes the reply to GET $path', async ({ path, schema }) => {
    const app = createApp();
    await request(app).get('/v1/pets/1').set('Authorization', 'Bearer demo-key');
    await request(app).post('/__mock/snapshots').send({ name: 'a' });
    await request(app)
      .put('/__mock/scenario')
      .send({ scenarios: ['flaky'] });
    const { body } = await request(app)
      .get(`/__mock${path.replace(/\{(?:id|number)\}/, '1')}`)
      .expect(200);
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const components = 'components' in document ? document.components : undefined;
    expect(ajv.validate({ ...schema, components }, body), ajv.errorsText()).toBe(true);
    expect(isObject(body) || Array.isArray(body)).toBe(true);
  });
});

/** A request that an OpenAPI document gives as an example, as contract tools send it. */
interface ExampleRequest {
  readonly id: string;
  readonly method: string;
  /** With the examples of its parameters. */
  readonly path: string;
  readonly body: unknown;
}

test('every example request of both documents succeeds, in their order', async () => {
  const { url } = await serverFor();
  const send = async (base: string, { method, path, body }: ExampleRequest): Promise<number> => {
    const type = { 'Content-Type': 'application/json' };
    const headers = { Authorization: 'Bearer demo-key', ...(body !== undefined && type) };
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const reply = await fetch(new URL(base + path, url), { method, headers, ...content });
    await reply.body?.cancel();
    return reply.status;
  };
  const service = exampleRequests(serviceOpenApi({ serverUrl: '/v1', version: '0.0.0' }));
  for (const example of service) expect([example.id, await send('/v1', example)]).toEqual(success);
  // A server of plain HTTP has no certificate.
  const control = exampleRequests(document).filter(({ id }) => id !== 'getCertificate');
  // The first one reads an exchange, before another one clears the journal.
  const isFirst = ({ id }: ExampleRequest) => id === 'getRequest';
  for (const example of [...control.filter(isFirst), ...control.filter((it) => !isFirst(it))]) {
    expect([example.id, await send('/__mock', example)]).toEqual(success);
  }
});

const success = [
  expect.any(String),
  expect.toSatisfy((status: number) => status >= 200 && status < 300),
];

/** The example requests of a document, in its order. */
function exampleRequests(document: object): ExampleRequest[] {
  return entriesOf(Object(document).paths).flatMap(([path, item]) =>
    entriesOf(item).map(([method, operation]) => {
      const { operationId, parameters = [], requestBody } = Object(operation);
      const query = new URLSearchParams();
      let target = path;
      for (const { name, in: place, example } of parameters) {
        if (place === 'path') target = target.replace(`{${name}}`, String(example));
        else if (place === 'query' && example !== undefined) query.set(name, String(example));
      }
      return {
        id: String(operationId),
        method: method.toUpperCase(),
        path: query.size === 0 ? target : `${target}?${query}`,
        body: Object(requestBody).content?.['application/json']?.example,
      };
    }),
  );
}

function entriesOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}
