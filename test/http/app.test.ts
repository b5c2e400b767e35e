import express from 'express';
import request from 'supertest';
import { expect, test } from 'vitest';
import { createExpressApp } from '../../src/control/app.ts';
import { createServiceHandler } from '../../src/http/service.ts';
import { createApp } from '../../src/index.ts';

const KEY = { Authorization: 'Bearer demo-key' };

test('createApp answers supertest without a port of its own', async () => {
  const app = createApp();
  await request(app).get('/v1/pets/1').set(KEY).expect(200).expect('Mock-Basis', 'documented');
  await request(app).get('/v1/pets/1').expect(401);
  await request(app).post('/v1/pets').set(KEY).send({ name: 'Rex', categoryId: 1 }).expect(201);
  await request(app).get('/__mock/health').expect(200);
});

test('two apps share no state', async () => {
  const [one, other] = [createApp(), createApp()];
  await request(one).delete('/v1/store/orders/1').set(KEY).expect(204);
  await request(other).delete('/v1/store/orders/1').set(KEY).expect(204);
});

test('an app that is mounted in another keeps the mount path in its links', async () => {
  const outer = express();
  outer.use('/mock', createApp({ assume: { 'pets-paging': 'cursor' } }));

  const first = await request(outer).get('/mock/v1/pets?limit=2').set(KEY).expect(200);
  const [, next = ''] = /^<([^>]+)>; rel="next"$/.exec(first.headers.link ?? '') ?? [];
  expect(next).toMatch(/^\/mock\/v1\/pets\?/);
  const second = await request(outer).get(next).set(KEY).expect(200);
  expect(second.body).toHaveLength(2);
  expect(second.body[0].id).toBeGreaterThan(first.body[1].id);

  const document = await request(outer).get('/mock/__mock/service.openapi.json').expect(200);
  expect(document.body.servers[0].url).toMatch(/\/mock\/v1$/);
});

test('middleware of the app around it applies to the service', async () => {
  const outer = express();
  outer.use((_request, response, next) => {
    response.set('X-Outer', 'yes');
    next();
  });
  outer.use(createApp());
  await request(outer).get('/v1/pets').set(KEY).expect(200).expect('X-Outer', 'yes');
  await request(outer).get('/v1/pets').expect(401).expect('X-Outer', 'yes');
});

test.each(['/foo%', '/__mock/%E0%A4%A', '/__mock/nothing', '/v1/%E0%A4%A'])(
  'GET %s gets an Error in JSON',
  async (target) => {
    const reply = await request(createApp()).get(target).expect(404);
    expect(reply.type).toBe('application/json');
    expect(reply.body).toMatchObject({ code: 'route_not_found', status: 404 });
  },
);

test('a fault inside the app gets an Error and no page of HTML', async () => {
  const outer = express();
  outer.use((_request, _response, next) => next(new Error('the app around it failed')));
  outer.use(createApp());
  await request(outer).get('/v1/pets').expect(500);
});
