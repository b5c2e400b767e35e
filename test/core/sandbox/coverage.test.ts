import { describe, expect, test } from 'vitest';
import { ASSUMED_REPLIES } from '../../../src/core/contract/assumption-table.ts';
import type { CoverageReport } from '../../../src/core/sandbox/report-shapes.ts';
import { openMock } from '../../helpers/in-process.ts';

/** `METHOD /path BODY`, of the service or of `/__mock`, and `as STATUS` for one that it prefers. */
type RequestLine = string;
/** What a client does. */
type Sequence = RequestLine | readonly RequestLine[];

const REQUEST_LINE = /^(\S+) (\S+)(?: ([[{].*?))?(?: as (\d+))?$/s;

/** Sends what is told to a new mock, and reads its coverage. */
async function coverageAfter(sequence: Sequence) {
  const { send, control } = await openMock();
  for (const line of [sequence].flat()) {
    const [, method = '', path = '', body, code] = REQUEST_LINE.exec(line) ?? [];
    const isControl = path.startsWith('/__mock');
    const sent = { body, headers: { Prefer: code && `code=${code}` } };
    // A fault that breaks the reply rejects.
    const reply = send(method, isControl ? path : `/v1${path}`, sent);
    if (isControl) expect((await reply).status, line).toBeLessThan(300);
    else await reply.catch(() => {});
  }
  const report: CoverageReport = JSON.parse((await control('GET coverage')).text);
  return report;
}

describe('replies', () => {
  test('that rest on an assumption count as assumed, even with a documented status', async () => {
    const { documented, assumed, totals } = await coverageAfter([
      'DELETE /store/orders/3',
      'GET /pets?limits=1',
    ]);
    const shown = (all: readonly { count: number }[]) => all.filter(({ count }) => count > 0);
    expect(shown(documented)).toEqual([]);
    expect(shown(assumed)).toMatchObject([
      { operation: 'listPets', status: 200, count: 1, grounds: ['unknown-query=ignore'] },
      { operation: 'cancelOrder', status: 409, count: 1, grounds: ['cancel-again=409'] },
    ]);
    expect(totals.assumed).toMatchObject({ shown: 2, total: ASSUMED_REPLIES.length + 2 });
  });

  const faulty = (fault: unknown): RequestLine =>
    `PUT /__mock/scenario ${JSON.stringify({ scenario: { rules: [{ on: 'listPets', apply: true, fault }] } })}`;
  test.each<
    [name: string, sequence: Sequence, shown: readonly [documented: number, assumed: number]]
  >([
    ['that are documented, though forced', 'GET /store/orders as 401', [1, 0]],
    ['of an option, though forced', 'GET /pets as 400', [0, 1]],
    ['neither documented nor assumed', 'GET /pets as 503', [0, 0]],
    ['of no operation', ['GET /nowhere', 'PUT /pets'], [0, 0]],
    ['to HEAD, which the document does not have', 'HEAD /pets', [0, 0]],
    ['spoilt by html', [faulty('html'), 'GET /pets'], [0, 0]],
    ['spoilt by malformed JSON', [faulty('malformed-json'), 'GET /pets'], [0, 0]],
    [
      'that arrive complete, if slowly',
      [faulty({ kind: 'slow-body', chunks: 2, over: 1 }), 'GET /pets'],
      [1, 0],
    ],
  ])('%s are counted where they belong', async (_, sequence, [documented, assumed]) => {
    const { totals } = await coverageAfter(sequence);
    expect([totals.documented.shown, totals.assumed.shown]).toEqual([documented, assumed]);
  });
});
