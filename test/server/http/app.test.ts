import express from 'express';
import request from 'supertest';
import { describe, expect, test } from 'vitest';
import { createApp } from '../../../src/index.ts';

const KEY = { Authorization: 'Bearer demo-key' };

test('a mounted app keeps the mount path in its links', async () => {
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

test('middleware of the embedding app applies to the service', async () => {
  const outer = express();
  outer.use((_request, response, next) => {
    response.set('X-Outer', 'yes');
    next();
  });
  outer.use(createApp());
  await request(outer).get('/v1/pets').set(KEY).expect(200).expect('X-Outer', 'yes');
  await request(outer).get('/v1/pets').expect(401).expect('X-Outer', 'yes');
});

describe('behind a body parser', () => {
  const animal = { name: 'Rex', categoryId: 7 };

  test.each([
    ['JSON', express.json()],
    ['bytes', express.raw({ type: '*/*' })],
    ['text', express.text({ type: '*/*' })],
  ])('that turned it into %s, a body is still read', async (_what, parser) => {
    const outer = express();
    outer.use(parser, createApp());
    const reply = await request(outer).post('/v1/pets').set(KEY).send(animal).expect(201);
    expect(reply.body).toMatchObject(animal);
    await request(outer).put('/__mock/clock').send({ frozen: true }).expect(200);
  });

  test('that rounds an integer, a request fails instead of storing a wrong number', async () => {
    const outer = express();
    outer.use(express.json(), createApp());
    const body = '{"name":"Rex","categoryId":9007199254740993}';
    const sent = request(outer).post('/v1/pets').set(KEY).type('json').send(body);
    expect((await sent).status).toBe(500);
  });
});
