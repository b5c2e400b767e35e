import { describe, expect, test } from 'vitest';
import { startServer } from '../../src/server.ts';

type Step = readonly [method: string, path: string, init?: RequestInit];

const json = { 'content-type': 'application/json' };
const CASES: Readonly<Record<string, { steps: readonly Step[]; scenario?: string }>> = {
  deprecated: { steps: [['GET', '/pets/1']] },
  experimental: {
    steps: [['PATCH', '/inventory/1', { headers: json, body: '{"quantity":1}' }]],
  },
  'placeholder-key': { steps: [['GET', '/pets', { headers: { authorization: 'Bearer null' } }]] },
  'unknown-input': { steps: [['GET', '/store/orders?page=2']] },
  'pointless-retry': {
    steps: [
      ['GET', '/pets?limit=0'],
      ['GET', '/pets?limit=0'],
    ],
  },
  'early-retry': {
    scenario: 'outage',
    steps: [
      ['GET', '/pets'],
      ['GET', '/pets'],
    ],
  },
  'rounded-id': {
    scenario: 'int64-ids',
    steps: [['DELETE', '/store/orders/9223372036854776000']],
  },
  'unexpected-body': { steps: [['DELETE', '/store/orders/1', { body: '{}' }]] },
};

async function findingsAfter(steps: readonly Step[], scenario?: string) {
  const server = await startServer({
    port: 0,
    scenarios: scenario === undefined ? [] : [scenario],
  });
  try {
    for (const [method, path, init] of steps) {
      const headers = { authorization: 'Bearer demo-key', ...init?.headers };
      const reply = await fetch(server.url + path, { ...init, method, headers });
      await reply.arrayBuffer();
    }
    return server.findings();
  } finally {
    await server.close();
  }
}

describe('Findings', () => {
  test.each(Object.entries(CASES))('tell of %s', async (code, { steps, scenario }) => {
    const { counts, findings } = await findingsAfter(steps, scenario);
    expect(counts).toEqual({ [code]: 1 });
    expect(findings[0]).toMatchObject({ code, exchange: steps.length, sandbox: 'default' });
  });

  test('are none of a correct client', async () => {
    const limits = Array.from({ length: 250 }, (_, at): Step[] => [
      ['GET', `/pets?limit=${1 + (at % 100)}`],
      ['GET', '/store/orders'],
      ['POST', '/pets', { headers: json, body: `{"name":"Rex ${at}","categoryId":${at}}` }],
      ['DELETE', `/store/orders/${1 + at}`],
    ]);
    expect(await findingsAfter(limits.flat())).toEqual({ total: 0, counts: {}, findings: [] });
  });
});
