import { expect, test } from 'vitest';
import { type Client, describeServer } from '../helpers/wire.ts';

/** The text format of Prometheus, version 0.0.4. */
const SAMPLE = /^petstore_mock_(\w+(?:\{\w+="[^"]*"(?:,\w+="[^"]*")*\})?) ([\d.e+-]+)$/;

/** Samples by name and labels. */
async function metricsOf({ control }: Client): Promise<Readonly<Record<string, number>>> {
  const { headers, text } = await control('GET metrics');
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  const lines = text.trim().split('\n');
  const samples = lines
    .filter((line) => !/^# (?:HELP|TYPE) petstore_mock_\w+ ./.test(line))
    .map((line) => SAMPLE.exec(line) ?? expect.fail(`not a sample: ${line}`));
  return Object.fromEntries(samples.map(([, name = '', value]) => [name, Number(value)]));
}

describeServer('metrics in the control API', (open) => {
  test('count exchanges by operation, status and basis once they were read', async () => {
    const client = await open();
    await client.send('GET', '/v1/pets');
    expect(Object.keys(await metricsOf(client)).join()).not.toContain('operation');
    for (const path of ['/v1/pets', '/~other/v1/pets', '/v1/pets/x', '/v1/nothing']) {
      await client.send('GET', path);
    }
    expect(await metricsOf(client)).toMatchObject({
      'exchanges_total{operation="listPets",status="200",basis="documented"}': 2,
      'exchanges_total{operation="getPet",status="400",basis="assumed"}': 1,
      'exchanges_total{operation="none",status="404",basis="assumed"}': 1,
      sandboxes: 3,
    });
  });

  test('put durations into classes that count up to all of them', async () => {
    const client = await open({ metrics: true, delay: 20 });
    for (let call = 0; call < 3; call += 1) await client.send('GET', '/v1/pets/1');
    const metrics = await metricsOf(client);
    expect(metrics).toMatchObject({
      'exchange_duration_seconds_bucket{le="0.01",operation="getPet"}': 0,
      'exchange_duration_seconds_bucket{le="+Inf",operation="getPet"}': 3,
      'exchange_duration_seconds_count{operation="getPet"}': 3,
    });
    const sum = metrics['exchange_duration_seconds_sum{operation="getPet"}'];
    expect(sum).toBeGreaterThanOrEqual(0.06);
  });
});
