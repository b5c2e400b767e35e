import { join } from 'node:path';
import request from 'supertest';
import { expect, test } from 'vitest';
import { serverFor } from '../helpers/deployment.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { type Client, describeServer } from '../helpers/wire.ts';

const folder = temporaryFolder();

/** Samples by name and labels. */
type Samples = ReadonlyMap<string, number>;

async function metricsOf({ send }: Client): Promise<Samples> {
  const { status, headers, text } = await send('GET', '/__mock/metrics');
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  return samplesOf(text);
}

function samplesOf(text: string): Samples {
  const lines = text.split('\n').filter((line) => line !== '');
  // The text format of Prometheus, version 0.0.4.
  const sample = /^(petstore_mock_\w+(?:\{\w+="[^"]*"(?:,\w+="[^"]*")*\})?) ([\d.e+-]+)$/;
  const samples = lines
    .filter((line) => !/^# (?:HELP|TYPE) petstore_mock_\w+ ./.test(line))
    .map((line) => sample.exec(line) ?? expect.fail(`not a sample: ${line}`));
  return new Map(samples.map(([, name = '', value]) => [name, Number(value)]));
}

describeServer('metrics in the control API', (open) => {
  test('count exchanges by operation, status and basis once they were read', async () => {
    const client = await open();
    await client.send('GET', '/v1/pets');
    expect([...(await metricsOf(client)).keys()].join()).not.toContain('operation');
    await client.send('GET', '/v1/pets');
    await client.send('GET', '/~other/v1/pets');
    await client.send('GET', '/v1/pets/x');
    await client.send('GET', '/v1/nothing');
    const metrics = await metricsOf(client);
    const exchanges = 'petstore_mock_exchanges_total';
    expect(metrics.get(`${exchanges}{operation="listPets",status="200",basis="documented"}`)).toBe(
      2,
    );
    expect(metrics.get(`${exchanges}{operation="getPet",status="400",basis="assumed"}`)).toBe(1);
    expect(metrics.get(`${exchanges}{operation="none",status="404",basis="assumed"}`)).toBe(1);
    expect(metrics.get('petstore_mock_sandboxes')).toBe(3);
  });

  test('put durations into classes that count up to all of them', async () => {
    const client = await open({ metrics: true, delay: 20 });
    for (let call = 0; call < 3; call += 1) await client.send('GET', '/v1/pets/1');
    const metrics = await metricsOf(client);
    const name = 'petstore_mock_exchange_duration_seconds';
    expect(metrics.get(`${name}_bucket{le="0.01",operation="getPet"}`)).toBe(0);
    expect(metrics.get(`${name}_bucket{le="+Inf",operation="getPet"}`)).toBe(3);
    expect(metrics.get(`${name}_count{operation="getPet"}`)).toBe(3);
    expect(metrics.get(`${name}_sum{operation="getPet"}`)).toBeGreaterThanOrEqual(0.06);
  });
});

test('metrics count changes and the appends that they share', async () => {
  const { url } = await serverFor({ db: join(folder, 'store.json') });
  await request(url)
    .post('/pets')
    .set('Authorization', 'Bearer demo-key')
    .send({ name: 'Polly', categoryId: 3 })
    .expect(201);
  await request(url).get('/pets').set('Authorization', 'Bearer demo-key').expect(200);
  const metrics = samplesOf((await request(url.replace('/v1', '')).get('/__mock/metrics')).text);
  expect(metrics.get('petstore_mock_log_changes_total')).toBe(1);
  expect(metrics.get('petstore_mock_log_append_duration_seconds_count')).toBe(1);
  expect(metrics.get('petstore_mock_log_conflicts_total')).toBe(0);
});
