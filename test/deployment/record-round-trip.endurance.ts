import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseBaseUrl } from '../../src/contract/base-url.ts';
import { writeJson } from '../../src/contract/json.ts';
import { DeploymentClient } from '../../src/deployment/deployment-client.ts';
import { recordDeployment } from '../../src/deployment/record-deployment.ts';
import { startServer } from '../../src/server.ts';
import { writeFixture } from '../../src/store/fixture.ts';
import { drawChoices, drawing } from '../helpers/drawn-requests.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { type Ask, asker } from '../helpers/wire.ts';

const folder = temporaryFolder();

/** Options drawn for each assumption; a rate limit would only slow a recording down. */
const assume = fc.nat().map((seed) => ({
  ...drawChoices(drawing(seed)),
  'rate-limit': 'none' as const,
}));

const id = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const status = fc.constantFrom('available', 'pending', 'sold', 'on loan', undefined);
const text = fc.string({ unit: 'binary', maxLength: 20 });
const quantity = fc.maxSafeNat();
const shipDate = fc
  .date({ min: new Date(0), max: new Date('2040-01-01'), noInvalidDate: true })
  .map((date) => `${date.toISOString().slice(0, 19)}Z`);

const animals = fc.uniqueArray(
  fc.record(
    { id, name: text, categoryId: id, status },
    { requiredKeys: ['id', 'name', 'categoryId'] },
  ),
  { maxLength: 260, size: 'max', selector: (it) => it.id },
);

/** A whole store: some animals have an entry, and orders name some of them. */
const store = animals.chain((all) => {
  const petId =
    all.length === 0 ? fc.constant(undefined) : fc.constantFrom(...all.map((it) => it.id));
  const order = { id, petId, quantity, shipDate, complete: fc.boolean() };
  const orderStatus = fc.constantFrom('pending', 'shipped', 'cancelled');
  return fc.record({
    animals: fc.constant(all),
    inventory: fc
      .subarray(all.map((it) => it.id))
      .chain((ids) =>
        fc.tuple(
          ...ids.map((entry) => fc.record({ petId: fc.constant(entry), quantity, status: text })),
        ),
      ),
    orders: fc.uniqueArray(
      fc.record({ ...order, status: orderStatus }, { requiredKeys: ['id', 'status'] }),
      { maxLength: 30, selector: (it) => it.id },
    ),
  });
});

/** What a client reads of all records, by every way that a deployment can offer. */
async function readAll(ask: Ask, ids: readonly bigint[]): Promise<object[]> {
  const queries = ['', '?limit=100', '?limit=7', '?limit=3&status=sold', '?limit=100&offset=100'];
  const pets = [...queries, ...ids.slice(0, 40).map((it) => `/${it}`)].map((it) => `/pets${it}`);
  const answers = await Promise.all(
    [...pets, '/inventory', '/store/orders'].map((path) => ask('GET', path)),
  );
  return answers.map(({ status: code, headers: { date: _, ...headers }, text: body }) => {
    return { code, headers, body };
  });
}

test('unless it says what is missing, a recording answers as the deployment does', async () => {
  const [source, copy] = [join(folder, 'source.json'), join(folder, 'copy.json')];
  let whole = 0;
  const property = fc.asyncProperty(assume, store, async (choices, records) => {
    writeFileSync(source, writeJson(records));
    const options = { port: 0, assume: choices };
    const deployment = await startServer({ ...options, fixture: source });
    const client = new DeploymentClient({
      url: parseBaseUrl(deployment.url) ?? new URL('none:'),
      key: 'demo-key',
      rate: 1e6,
    });
    const recording = await recordDeployment(
      (path) => client.send({ method: 'GET', path }),
      'pending',
    );
    client.close();
    await writeFixture(recording.store, copy);
    const ours = await startServer({ ...options, fixture: copy });
    const recorded = [...recording.store.animals.ascending()];
    const original = new Map(records.animals.map((it) => [it.id, it]));
    for (const animal of recorded) expect(animal).toEqual(original.get(animal.id));
    const about = recording.gaps.filter((gap) => gap.startsWith('animals'));
    if (about.length === 0) {
      whole += 1;
      expect(recorded).toHaveLength(records.animals.length);
      const ids = records.animals.map((it) => it.id);
      expect(await readAll(asker(ours.port), ids)).toEqual(
        await readAll(asker(deployment.port), ids),
      );
    }
    await Promise.all([deployment.close(), ours.close()]);
  });
  await fc.assert(property, { numRuns: 200, seed: 13 });
  expect(whole).toBeGreaterThan(100);
});
