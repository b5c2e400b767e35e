import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CALL_PARTS,
  type CallPart,
  compareTranscripts,
  readCallParts,
  writeTranscript,
} from '../../src/cli/transcript.ts';
import type { RanExchange } from '../../src/terminal/command.ts';
import { exchangeWith } from '../helpers/exchange.ts';

interface Sent {
  readonly target?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

function call(sandbox: string, { target = '/v1/pets', headers = [], body }: Sent) {
  const request = { headers, body, size: body?.length ?? 0 };
  return { sandbox, exchange: exchangeWith({ target, request }) };
}

function linesOf(sent: Sent): string[] {
  const lines = writeTranscript([call('default', sent)]).split('\n');
  return lines.slice(2, -1).map((line) => line.trim());
}

const UUID = '0b0e1f52-5d3c-4c0e-9a94-1f4f2c7f5a11';

describe('a call is written', () => {
  // biome-ignore format: a row for each
  test.each<[Sent, string[]]>([
    [{ target: '/~a/v1/pets/7?b=2&a=x%20y' }, ['GET /v1/pets/{id:1}?a=x y&b=2']],
    [{ target: 'http://h:1/v1/pet?at=2030-01-01T00:00:00.5Z' }, ['GET /v1/pet?at={time}']],
    [{ headers: ['Host', 'h', 'Connection', 'close', 'Content-Length', '2', 'Mock-Sandbox', 'a'] }, ['GET /v1/pets']],
    [{ headers: ['X-B', '2', 'Accept', '*/*'] }, ['GET /v1/pets', 'accept: */*', 'x-b: 2']],
    [{ headers: ['Authorization', 'Bearer some-key', 'X-Api-Key', 'k'] }, ['GET /v1/pets', 'authorization: Bearer {key}', 'x-api-key: {key}']],
    [{ target: '/v1/pets?api_key=k&Token=t', headers: ['api_key', 'k'] }, ['GET /v1/pets?Token={key}&api_key={key}', 'api_key: {key}']],
    [{ headers: ['User-Agent', 'shop/1.2.3-rc (node v22.1)'] }, ['GET /v1/pets', 'user-agent: shop/{version} (node v22.1)']],
    [{ headers: ['Date', 'Tue, 01 Jan 2030 00:00:00 GMT', 'Idempotency-Key', UUID] }, ['GET /v1/pets', 'date: {time}', 'idempotency-key: {uuid}']],
    [{ headers: ['Origin', 'http://localhost:5173', 'traceparent', `00-${'0a'.repeat(16)}-${'01'.repeat(8)}-01`] }, ['GET /v1/pets', 'origin: http://localhost:{port}', 'traceparent: 00-{trace}-01']],
    [{ body: '{"name":"Rex","categoryId":9007199254740993,"born":"2030-01-01"}' }, ['GET /v1/pets', '{"born":"{date}","categoryId":9007199254740993,"name":"Rex"}']],
    [{ body: 'a\nsandbox \u202e' }, ['GET /v1/pets', 'a\\u000asandbox \\u202e']],
    [{ headers: ['Mock-Client', 'page'] }, []],
  ])('%j', (sent, expected) => {
    expect(linesOf(sent)).toEqual(expected);
  });
});

const ANY_CALL = fc.record({
  target: fc.constantFrom('/v1/pets', '/v1/pets/1', '/v1/pets/2', '/v1/pets?limit=1'),
});
const NAMES = ['b-test', `a-test-${UUID.slice(0, 13)}`, 'a-test-0c0e1f52-5d3d', UUID];

test('is the same however the calls of the sandboxes come in between each other', () => {
  const runs = fc.tuple(...NAMES.map(() => fc.array(ANY_CALL, { maxLength: 4 })));
  fc.assert(
    fc.property(runs, fc.infiniteStream(fc.nat(NAMES.length - 1)), (all, order) => {
      const mixed: RanExchange[] = [];
      const inTurn = all.flatMap((calls, index) =>
        calls.map((one) => call(`${NAMES[index]}`, one)),
      );
      const left = all.map((calls) => [...calls]);
      for (const index of order) {
        if (left.every((calls) => calls.length === 0)) break;
        const next = left[index]?.shift();
        // Those that the mock names have other names in another run.
        const name = index === 3 ? UUID.replaceAll('f', 'a') : `${NAMES[index]}`;
        if (next !== undefined) mixed.push(call(name, next));
      }
      expect(writeTranscript(mixed)).toBe(writeTranscript(inTurn));
    }),
  );
});

test.each<[CallPart[], string]>([
  [
    ['order'],
    '  GET /v1/pets/{id:1}\n  GET /v1/pets/{id:2}\n  GET /v1/pets/{id:1}\n  GET /v1/pets\n',
  ],
  [
    ['query', 'body'],
    '  GET /v1/pets/{id}\n  GET /v1/pets/{id}\n  GET /v1/pets/{id}\n  GET /v1/pets?limit=1\n    1\n',
  ],
])('with the parts %j, only these count', (parts, expected) => {
  const ids = ['5', '6', '5'].map((id) => ({ target: `/v1/pets/${id}`, headers: ['A', 'b'] }));
  const sent = [...ids, { target: '/v1/pets?limit=1', body: '1' }];
  const text = writeTranscript(
    sent.map((one) => call('default', one)),
    parts,
  );
  expect(text).toBe(`petstore-mock calls: ${parts.join(', ')}\nsandbox default\n${expected}`);
  expect(readCallParts(text)).toEqual(parts);
});

test('ids are numbered by what they name, as they appear', () => {
  // biome-ignore format: a line for each call
  const sent = [
    ['/v1/pets/1', '/v1/store/orders/1', '/v1/inventory/1', '/v1/pets/2', '/v1/a/1/b/1', '/v1/a/2/b/1'],
    ['/v1/pets/1', '/v1/store/orders/3', '/v1/inventory/1', '/v1/pets/5', '/v1/a/9/b/4', '/v1/a/3/b/4'],
  ].map((targets) => writeTranscript(targets.map((target) => call('default', { target }))));
  expect(sent[0]?.match(/\{id:\d\}/g)?.join('')).toBe(
    '{id:1}{id:1}{id:1}{id:2}{id:1}{id:1}{id:2}{id:1}',
  );
  expect(sent[1]).toBe(sent[0]);
});

test('a text that is no transcript has no parts', () => {
  expect([readCallParts('{}'), readCallParts('petstore-mock calls: \n')]).toEqual([undefined, []]);
});

const BEFORE = `petstore-mock calls: ${CALL_PARTS.join(', ')}
sandbox a
  GET /v1/pets
    accept: */*
    x-b: 2
  GET /v1/inventory
sandbox b
  GET /v1/pets
`;

test.each([
  ['nothing', (text: string) => text, undefined],
  [
    'a header',
    (text: string) => text.replace('    x-b: 2\n', ''),
    { line: 5, lines: ['  sandbox a', '    GET /v1/pets', '-     x-b: 2'] },
  ],
  [
    'a call',
    (text: string) => `${text}  GET /v1/pets\n    x: 1\n`,
    { line: 8, lines: ['  sandbox b', '+   GET /v1/pets', '+     x: 1'] },
  ],
  [
    'a sandbox',
    (text: string) => text.replace('sandbox b\n  GET /v1/pets\n', ''),
    { line: 7, lines: ['- sandbox b', '-   GET /v1/pets'] },
  ],
])('the difference of %s is readable', (_what, change, expected) => {
  const difference = compareTranscripts(BEFORE, change(BEFORE));
  if (expected === undefined) expect(difference).toBeUndefined();
  else expect(difference).toMatchObject(expected);
});
