import { afterAll, beforeAll, expect, test } from 'vitest';
import { coverageFormats } from '../../src/report/write.ts';
import { type RunningServer, startServer } from '../../src/server.ts';

let server: RunningServer;
const ask = (path: string, init: RequestInit = {}, key = 'demo-key') =>
  fetch(`${server.url}${path}`, { ...init, headers: { authorization: `Bearer ${key}` } });
const render = (ending: string): string =>
  coverageFormats[ending]?.({ coverage: server.coverage(), findings: server.findings() }) ?? '';

beforeAll(async () => {
  server = await startServer({ port: 0 });
  await ask('/pets?limit=1');
  await ask('/pets?<b>=1', {}, 'undefined');
  await ask('/pets/1');
});
afterAll(() => server.close());

test('coverage and findings tell what the client was shown and did', () => {
  const { totals, cases } = server.coverage();
  expect(totals.documented).toEqual({ shown: 3, total: 16, percent: 18 });
  expect(cases.find(({ id }) => id === 'limit-1')?.count).toBe(1);
  expect(server.findings().counts).toEqual({
    'unknown-input': 1,
    'placeholder-key': 1,
    deprecated: 1,
  });
});

test('the page is escaped and needs nothing else', () => {
  expect(render('.html')).not.toMatch(/<b>|src=|<link|@import/);
});

test('JUnit fails each documented reply that is missing', () => {
  expect(render('.xml').match(/<failure /g)).toHaveLength(13);
});

test('lcov has a line of its own for each documented reply', () => {
  const lines = [...render('.info').matchAll(/^DA:(\d+),(\d+)$/gm)].map(([, line]) => line);
  expect(new Set(lines).size).toBe(16);
  expect(lines).not.toContain('0');
});
