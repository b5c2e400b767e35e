import { expect, onTestFinished, test, vi } from 'vitest';
import { LIMITS } from '../../src/core/limits.ts';
import { openMock } from '../helpers/in-process.ts';
import type { Answer, Client } from '../helpers/wire.ts';

type LimitName = keyof typeof LIMITS;

const max = (name: LimitName): number => LIMITS[name];

/** What built-in functions go through for a call: characters, and the entries of maps. */
interface Work {
  searched: number;
  lowered: number;
  written: number;
  copied: number;
}

async function measureWork(call: () => Promise<unknown>): Promise<Work> {
  const work: Work = { searched: 0, lowered: 0, written: 0, copied: 0 };
  const { includes, toLowerCase } = String.prototype;
  const { stringify } = JSON;
  const spies = [
    vi.spyOn(String.prototype, 'includes').mockImplementation(function (this: string, ...given) {
      work.searched += this.length;
      return includes.apply(this, given);
    }),
    vi.spyOn(String.prototype, 'toLowerCase').mockImplementation(function (this: string) {
      work.lowered += this.length;
      return toLowerCase.call(this);
    }),
    vi.spyOn(JSON, 'stringify').mockImplementation((...given: Parameters<typeof stringify>) => {
      const text = stringify(...given);
      work.written += text?.length ?? 0;
      return text;
    }),
  ];
  const CountedMap = class<K, V> extends Map<K, V> {
    constructor(entries?: Iterable<readonly [K, V]> | null) {
      super(entries);
      work.copied += this.size;
    }
  };
  vi.stubGlobal('Map', CountedMap);
  try {
    await call();
  } finally {
    vi.unstubAllGlobals();
    for (const spy of spies) spy.mockRestore();
  }
  return work;
}

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

async function repeat(count: number, call: (name: string) => Promise<Answer>): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    expect((await call(`${index}`)).status, call.toString()).toBeLessThan(300);
  }
}

/** All words are looked for in every text, and no text has one. */
const SEARCH = times(max('searchTerms'), (index) => `${index === 0 ? '' : '-'}nowhere${index}`)
  .reverse()
  .join(' ');
const NAME = 'x'.repeat(max('recordText'));
const ANIMAL = { name: NAME, categoryId: 1 };
const BIG_BODY = JSON.stringify(ANIMAL).padEnd(max('keptBody'));
const CALLS = times(max('calls'), (index) => index + 1e6).join();
const RULE = { on: '*', calls: CALLS, delay: 1 };
const OWN_RULES = { rules: times(max('rules') / max('named'), () => RULE) };

/** A hundredth of the records that may be generated: what they cost grows with their number alone. */
const GENERATED = max('generated') / 100;

/** Fills a sandbox with what stays in it, in this order. */
const FILLS: Partial<Record<LimitName, (client: Client) => Promise<unknown>>> = {
  generated: ({ control }) =>
    control('PUT scenario', { scenario: { generate: { animals: GENERATED } } }),
  recordText: ({ control }) =>
    repeat(100, (id) => control('POST animals', { id: -1 - Number(id), ...ANIMAL })),
  rules: async ({ control }) => {
    await repeat(max('named'), (name) => control(`PUT scenarios/${name}`, OWN_RULES));
    return control('PUT scenario', { scenarios: times(max('named'), String) });
  },
  // Calls of a rule that a request names are counted apart.
  counters: async ({ send, control }) => {
    await repeat(max('named'), (name) =>
      send('GET', '/v1/pets/1', { headers: { Prefer: `scenario=${name}` } }),
    );
    await control('DELETE requests');
  },
  listeners: async ({ control }) => {
    const body = { search: SEARCH, within: 'PT1M' };
    times(max('listeners'), () => control('POST requests/count', body));
    return control('POST requests/count'); // is answered once those before it listen
  },
  keptBody: ({ send }) => repeat(2, () => send('POST', '/v1/pets', { body: BIG_BODY })),
  snapshotRecords: ({ control }) =>
    repeat(max('named'), (name) => control('POST snapshots', { name })),
  named: ({ control }) =>
    repeat(max('named'), (hold) => control('POST holds', { on: '*', calls: CALLS, hold })),
};

const THOUSAND = 1e3;
const MILLION = 1e6;

interface FullCall {
  /** Those that this call reaches by itself. */
  readonly limits: readonly LimitName[];
  readonly send: (client: Client) => Promise<Answer>;
  readonly status: number;
  /** What limits multiply to: whoever raises one finds it here. Of all else, `FEW`. */
  readonly most: Partial<Work>;
}

const FEW = 100 * THOUSAND;

/** Listeners × terms × the texts of an exchange, which are lowered once; and one copy of all counts. */
const OF_SERVICE = { searched: 600 * MILLION, lowered: 600 * THOUSAND, copied: 3 * THOUSAND };
/** Records × their texts, of which a hundred are as long as can be. */
const RECORDS = 8 * MILLION;

const deep = `${'['.repeat(max('nesting'))}${']'.repeat(max('nesting'))}`;

const FULL_CALLS: Readonly<Record<string, FullCall>> = {
  'a call with a large body': {
    limits: ['serviceBody', 'head'],
    send: ({ send }) => send('POST', '/v1/pets', { body: BIG_BODY }),
    status: 201,
    most: OF_SERVICE,
  },
  'a page of long names': {
    limits: [],
    send: ({ send }) => send('GET', '/v1/pets?limit=100'),
    status: 200,
    most: OF_SERVICE,
  },
  'a search of exchanges': {
    limits: ['searchTerms'],
    send: ({ control }) => control(`GET requests?search=${encodeURIComponent(SEARCH)}`),
    status: 200,
    most: { searched: 15 * MILLION, lowered: 1.5 * MILLION },
  },
  'a search of records': {
    limits: ['filterText', 'sortFields'],
    send: ({ control }) => {
      const fields = ['status', 'categoryId', 'name', 'id', 'status'].slice(0, max('sortFields'));
      return control(`GET animals?q=${'y'.repeat(max('filterText'))}&_sort=${fields.join()}`);
    },
    status: 200,
    most: { searched: RECORDS, lowered: RECORDS },
  },
  'a change of all records': {
    limits: ['each', 'controlBody'],
    send: ({ control }) => {
      const each = times(max('each'), () => ({ status: 'sold' }));
      return control('PATCH state', { animals: { each } });
    },
    status: 200,
    most: { written: RECORDS },
  },
  'a change that is wrong everywhere': {
    limits: ['problems'],
    send: ({ control }) =>
      control('PATCH state', {
        animals: times(max('controlBody') / 100, () => ({ nmae: NAME[0] })),
      }),
    status: 400,
    // The request itself, which the client writes.
    most: { written: 150 * THOUSAND },
  },
  'another set of scenarios': {
    limits: [],
    send: ({ control }) => control('PUT scenario', { scenarios: times(50, String) }),
    status: 200,
    // Scenarios that end × counts.
    most: { copied: 250 * THOUSAND },
  },
  'a scenario of as many rules as a text has': {
    limits: ['jsonText', 'calls'],
    send: ({ control }) => {
      const rules = times(max('rules'), () => ({
        on: 'getPet',
        calls: CALLS.slice(0, 79),
        delay: 1,
      }));
      return control('PUT scenarios/0', { rules });
    },
    status: 200,
    most: { written: 150 * THOUSAND },
  },
  'a patched list, behind a replica': {
    limits: ['patchItems', 'patchedBody', 'lag'],
    send: async ({ send, control }) => {
      const lag = { calls: max('lag') };
      const patch = {
        items: times(max('patchItems'), (id) => ({ where: { petId: id }, body: { quantity: 1 } })),
      };
      await control('PUT scenario', { scenario: { rules: [{ on: 'listInventory', lag, patch }] } });
      return send('GET', '/v1/inventory');
    },
    status: 200,
    // Records × items.
    most: { written: RECORDS, searched: 600 * MILLION, lowered: 600 * THOUSAND },
  },
  'a scenario in YAML': {
    limits: ['yamlText', 'nesting'],
    send: ({ control }) => control('PUT scenario', { text: `${deep}`.repeat(50) }),
    status: 400,
    most: {},
  },
};

/** A client reaches them only through a deployment that the operator names. */
const OF_DEPLOYMENTS: readonly LimitName[] = [
  'deploymentBody',
  'deploymentHead',
  'deploymentSockets',
];

test('every two limits are reached together', () => {
  const reached = [...Object.keys(FILLS), ...Object.values(FULL_CALLS).flatMap((it) => it.limits)];
  expect(new Set([...reached, ...OF_DEPLOYMENTS])).toEqual(new Set(Object.keys(LIMITS)));
});

test('a sandbox that is full in every way answers each call within bounds', async () => {
  const leave: (() => void)[] = [];
  const client = await openMock({}, (act) => {
    leave.push(act);
    return () => {};
  });
  onTestFinished(async () => {
    // A listener that leaves counts all of the journal once more.
    await client.control('DELETE requests');
    for (const act of leave) act();
  });
  for (const fill of Object.values(FILLS)) await fill(client);
  for (const [name, { send, status, most }] of Object.entries(FULL_CALLS)) {
    let reply: Answer | undefined;
    const work = await measureWork(async () => {
      reply = await send(client);
    });
    expect.soft(reply?.status, `${name}: ${reply?.text.slice(0, 200)}`).toBe(status);
    for (const kind of ['searched', 'lowered', 'written', 'copied'] as const) {
      expect.soft(work[kind], `${name}: ${kind}`).toBeLessThanOrEqual(most[kind] ?? FEW);
    }
  }
});
