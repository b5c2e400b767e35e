import { Ajv2020 } from 'ajv/dist/2020.js';
import request from 'supertest';
import { describe, expect, test } from 'vitest';
import { isObject } from '../../src/contract/records.ts';
import { controlOpenApi } from '../../src/control/control-openapi.ts';
import { ENDPOINTS } from '../../src/control/endpoints.ts';
import { createApp } from '../../src/index.ts';

const document = controlOpenApi(ENDPOINTS, {
  serverUrl: 'http://127.0.0.1:4010/__mock',
  version: '0.0.0',
});

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

  const gets = ENDPOINTS.flatMap(({ method, path, replies: { 200: reply } }) =>
    method === 'get' && typeof reply === 'object' && reply[2]?.mediaType === undefined
      ? [{ path, schema: reply[1].schema }]
      : [],
  );

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
