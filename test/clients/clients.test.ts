import { afterAll, beforeAll, test } from 'vitest';
import { type PetstoreMock, startPetstoreMock } from '../../src/index.ts';
import { answerOf, BIG_ID, drive, requestOf } from '../helpers/client-plan.ts';
import { findProgram, runProgram } from '../helpers/program.ts';
import type { Answer } from './callers/call.ts';

// Only one client; clients.endurance.ts runs the others.

let mock: PetstoreMock;
beforeAll(async () => {
  mock = await startPetstoreMock();
});
afterAll(() => mock.stop());

test('curl gets every documented reply', async ({ skip }) => {
  const curl = findProgram('curl');
  if (curl === undefined) return skip('This machine has no curl.');
  await drive(mock, BIG_ID, async (url, steps) => {
    const answers: Answer[] = [];
    for (const { call, key } of steps) {
      const { method, path, body } = requestOf(call);
      const args = ['-q', '-sS', '-X', method, '-H', `Authorization: Bearer ${key}`];
      if (body !== '') args.push('-H', 'Content-Type: application/json', '-d', body);
      const { output } = await runProgram(curl, [...args, '-w', '\\n%{http_code}', url + path]);
      const end = output.lastIndexOf('\n');
      answers.push(answerOf(output.slice(end + 1), output.slice(0, end)));
    }
    return answers;
  });
});
