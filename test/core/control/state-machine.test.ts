import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ENDPOINTS } from '../../../src/core/control/endpoints.ts';
import { isObject } from '../../../src/core/json.ts';
import { ID_NAME } from '../../../src/core/store/store.ts';
import { describedBy } from '../../helpers/described.ts';
import { openMock } from '../../helpers/in-process.ts';
import { schemaValues } from '../../helpers/schema-values.ts';
import type { Answer, Client } from '../../helpers/wire.ts';

/*
 * Random calls of random endpoints, drawn from the schemas of their rows. The model is a plain object:
 * the records as `GET state` shows them, snapshots of them, and what was there around each exchange.
 * What it cannot say, pairs of calls say: a read and a refusal change nothing, what is deleted is not
 * there, and an undo takes any change back.
 */

interface Step {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** @param latest the number of the latest exchange */
  readonly target: (latest: number) => string;
  readonly body: unknown;
  /** Undo the step, if it changed something. */
  readonly undoes: boolean;
}

/** A stream does not end. */
const CALLED = ENDPOINTS.filter(({ id }) => id !== 'streamRequests');
const READS = CALLED.filter(({ method }) => method === 'get');
const WRITES = CALLED.filter(({ method }) => method !== 'get');
const MODELLED = CALLED.filter(({ path }) => /snapshots$|rewind|state$|animals/.test(path));

const NAMES = fc.constantFrom('a', 'b', 'slow');
const PARAMETERS: Readonly<Record<string, fc.Arbitrary<string | number>>> = {
  id: fc.integer({ min: 1, max: 4 }),
  /** Back from the latest exchange. */
  number: fc.integer({ min: 0, max: 3 }),
  name: NAMES,
};

/** Bodies that random values would not find, or should not: a deployment, and no wait. */
const BODIES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  countRequests: fc.constantFrom({}, { operation: 'getPet' }, { atLeast: 1 }),
  createSnapshot: fc.record({ name: NAMES }),
  createSandbox: fc.record({ name: NAMES }),
  setLatch: fc.constantFrom({ on: 'getPet', hold: 'a' }, { on: '*', hold: true }),
  checkScenario: fc.constantFrom({ text: 'rules: []' }, { text: 'rules: [' }),
  saveScenario: fc.constantFrom(
    { rules: [] },
    { rules: [{ on: 'getPet', delay: 1 }] },
    { rule: [] },
  ),
  setScenario: fc.oneof(
    fc.record({ scenarios: fc.array(NAMES, { maxLength: 3 }) }),
    fc.constant({ scenario: { state: { orders: { each: { status: 'shipped' } } } } }),
  ),
};

const STEPS: fc.Arbitrary<Step> = fc
  .oneof(
    { weight: 1, arbitrary: fc.constantFrom(...READS) },
    { weight: 3, arbitrary: fc.constantFrom(...WRITES) },
    { weight: 2, arbitrary: fc.constantFrom(...MODELLED) },
  )
  .chain((endpoint) => {
    const [, name = ''] = /\{(\w+)\}/.exec(endpoint.path) ?? [];
    const shape = endpoint.body?.shape;
    const body =
      BODIES[endpoint.id] ?? (shape ? schemaValues(shape.schema) : fc.constant(undefined));
    return fc
      .tuple(PARAMETERS[name] ?? fc.constant(''), body, fc.boolean())
      .map(([value, sent, undoes]) => ({
        id: endpoint.id,
        method: endpoint.method,
        path: endpoint.path,
        target: (latest: number) =>
          endpoint.path.replace(
            `{${name}}`,
            String(name === 'number' ? latest - Number(value) : value),
          ),
        body: sent,
        undoes,
      }));
  });

/** Calls of clients, so that there are exchanges to look at and to go back to. */
const CLIENT_CALLS = [
  ['GET', '/v1/pets/1'],
  ['DELETE', '/v1/store/orders/1'],
  ['PATCH', '/v1/inventory/2', { quantity: 7 }],
] as const;

type Model = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

describe('the table of endpoints', () => {
  test('random calls answer as their rows say, change what they say, and can be undone', async () => {
    const client = await openMock({ clock: Date.UTC(2030, 0, 1), frozen: true });
    const document = JSON.parse((await client.control('GET openapi.json')).text);
    const expectDescribed = describedBy(document);

    const property = fc.asyncProperty(
      fc.array(STEPS, { minLength: 6, maxLength: 12 }),
      async (steps) => {
        await client.control('POST reset', { keep: [] });
        await client.control('PUT state', START);
        let before = await observe(client);
        /** What was there before and after each exchange. */
        const around = new Map<number, Readonly<Record<'before' | 'after', Observed>>>();
        const note = (after: Observed): void => {
          if (after.latest > before.latest) around.set(after.latest, { before, after });
          before = after;
        };
        for (const [method, path, body] of CLIENT_CALLS) {
          await client.send(method, path, { body });
          note(await observe(client));
        }
        await client.control('POST snapshots', { name: 'a' });
        note(await observe(client));
        /** By name, as far as they are known. */
        const snapshots = new Map([['a', before.records]]);
        for (const step of steps) {
          const { id, body, undoes } = step;
          const target = step.target(before.latest);
          const method = step.method.toUpperCase();
          const sent = body === undefined ? undefined : Object(body);
          const answer = await client.control(`${method} ${target.slice(1)}`, sent);
          expectDescribed(id, document.paths[step.path][step.method].responses, answer);
          const isDone = answer.status < 400;
          const after = await observe(client);
          if (method === 'GET' || !isDone) expect(after).toEqual(before);
          else expectRecords({ ...step, target }, answer, before.records, after.records);
          if (isDone && method === 'DELETE' && step.path.endsWith('}')) {
            expect(await client.control(`DELETE ${target.slice(1)}`)).toMatchObject({
              status: 404,
            });
          }

          const past = around.get(Number(/\d+/.exec(target)?.[0]));
          if (isDone && id === 'getStateOfRequest') {
            expect(answer.json).toEqual(past?.before.records);
          }
          if (isDone && id === 'rewind') {
            const { latest, ...there } =
              past?.[sent?.to === 'after' ? 'after' : 'before'] ?? before;
            expect(after).toEqual({ ...there, latest: before.latest });
          }
          if (['undo', 'rewind'].includes(id)) snapshots.clear();

          const isChanged = JSON.stringify(after) !== JSON.stringify(before);
          let last = after;
          if (undoes && isChanged && !['undo', 'rewind', 'replay'].includes(id)) {
            expect(await client.control('POST undo')).toMatchObject({ status: 200 });
            last = await observe(client);
            expect({ ...last, latest: before.latest }).toEqual(before);
          } else if (isDone && id === 'createSnapshot') {
            snapshots.set(sent.name, after.records);
          }
          note(last);
        }
        for (const [name, records] of snapshots) {
          const { status } = await client.control(`POST snapshots/${name}/restore`);
          if (status < 400) expect((await observe(client)).records).toEqual(records);
        }
      },
    );
    await fc.assert(property, { numRuns: 30 });
  });
});

const START = {
  animals: [1, 2, 3].map((id) => ({ id, name: 'Rex', categoryId: 1 })),
  inventory: [1, 2].map((petId) => ({ petId, quantity: 3, status: 'available' })),
  orders: [1, 2, 3].map((id) => ({ id, petId: id, status: 'pending' })),
};

const SHOWN = ['state', 'scenario', 'scenarios', 'assumptions', 'snapshots', 'holds'];

/** All of a sandbox that a call can change, and the number of its latest exchange. */
interface Observed {
  readonly records: Model;
  readonly settings: object;
  readonly latest: number;
}

async function observe({ control }: Client): Promise<Observed> {
  const { clock, latestExchange: latest } = Object((await control('GET status')).json);
  const { now, frozen } = clock;
  const shown = SHOWN.map(async (path) => [path, (await control(`GET ${path}`)).json]);
  const { state: records, ...others } = Object.fromEntries(await Promise.all(shown));
  // How many calls an assumption decided is of the journal.
  const assumptions = others.assumptions.map(({ calls: _, ...shown }: { calls: number }) => shown);
  const settings = { ...others, assumptions, now: frozen ? now : undefined };
  return { records, settings, latest };
}

const COLLECTION = /^\/(animals|inventory|orders)(?:\/(-?\d+))?$/;

/** What an endpoint for one record makes of the records; the others have rules of their own. */
function expectRecords(
  { method, target, body }: Pick<Step, 'method' | 'body'> & { readonly target: string },
  { json }: Answer,
  before: Model,
  after: Model,
): void {
  const [, collection = '', text] = COLLECTION.exec(target) ?? [];
  if (collection === '') return;
  const idName = collection === 'inventory' ? ID_NAME.inventory : 'id';
  const list = before[collection] ?? [];
  const reply = isObject(json) ? json : {};
  const id = text === undefined ? reply[idName] : Number(text);
  const former = list.find((record) => record[idName] === id);
  const given = isObject(body) ? body : {};
  const merged = method === 'patch' ? { ...former, ...given } : { ...given };
  const present = Object.entries({ ...merged, [idName]: id }).filter(([, value]) => value !== null);
  const byDefault: [string, string][] = collection === 'orders' ? [['status', 'pending']] : [];
  const written = [...byDefault, ...present];
  const others = list.filter((record) => record !== former);
  const expected = method === 'delete' ? others : [...others, Object.fromEntries(written)];
  expect(sorted(after[collection], idName)).toEqual(sorted(expected, idName));
  if (method !== 'delete') expect(reply).toEqual(Object.fromEntries(written));
  const left = (name: string) =>
    (before[name] ?? []).filter(
      ({ petId }) => collection !== 'animals' || method !== 'delete' || petId !== id,
    );
  for (const name of ['animals', 'inventory', 'orders']) {
    if (name !== collection) expect(after[name]).toEqual(left(name));
  }
}

function sorted(records: Model[string] = [], idName: string): Model[string] {
  return [...records].sort((one, other) => Number(one[idName]) - Number(other[idName]));
}
