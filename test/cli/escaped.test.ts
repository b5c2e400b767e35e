import { describe, expect, test } from 'vitest';
import { sweepReport } from '../../src/cli/commands/sweep-report.ts';
import {
  AssumptionTracker,
  judge,
  renderEvidence,
  summarizeFindings,
} from '../../src/cli/evidence.ts';
import { escaped, escapedLines, notice, renderReport } from '../../src/cli/terminal.ts';
import { startServer } from '../../src/index.ts';
import { runInProcess } from '../helpers/invocation.ts';
import { asker } from '../helpers/wire.ts';

const PLAIN = { width: 100, colour: false };

/** Sets a terminal's title, changes the colour, forges a line and reverses the rest. */
const HOSTILE = '\u001B]0;x\u0007\u001B[31mRED\nfindings  none\u202E\u009B';

/** Characters that control a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for these.
const OBEYED = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u2028-\u202E\u2066-\u2069]/;

test('terminal control characters are shown as JSON escapes', () => {
  expect(escaped('a\u001B[0m\nb\u202Ec\u2028d\u061Ce')).toBe(
    'a\\u001b[0m\\u000ab\\u202ec\\u2028d\\u061ce',
  );
  expect(escaped('Zoë, 猫, 🐈 "as they are"')).toBe('Zoë, 猫, 🐈 "as they are"');
  expect(escapedLines('a\n\u001Bb')).toBe('a\n\\u001bb');
  expect(notice('a\nb')).toBe('petstore-mock: a\\u000ab\n');
});

describe('input from a client', () => {
  async function report() {
    const server = await startServer({ port: 0 });
    try {
      const ask = asker(Number(new URL(server.url).port));
      await ask('POST', '/pets', { body: { name: 'Rex', categoryId: 1, [HOSTILE]: 1 } });
      return { coverage: server.coverage(), findings: server.findings() };
    } finally {
      await server.close();
    }
  }

  test('cannot forge a line of the evidence, of a gate or of a sweep', async () => {
    const seen = await report();
    const findings = summarizeFindings(seen.findings);
    expect(findings).toMatchObject([{ code: 'unknown-input', count: 1 }]);
    const found = JSON.stringify(HOSTILE);
    expect(findings[0]?.example).toContain(found);
    const run = {
      assumption: 'cors',
      option: 'absent',
      verdict: 'failed',
      ending: { kind: 'exited', code: 1, exitCode: 1 },
      seconds: 1,
      lastLines: ['it failed'],
      findings,
      passedAlone: false,
    } as const;
    const result = sweepReport({
      command: ['x'],
      baselineSeconds: 1,
      runs: [run],
      untouched: [],
      decidedByScenario: [],
      notRun: [],
    });
    const table = renderEvidence(seen, new AssumptionTracker(), PLAIN);
    const verdict = judge({ failOn: ['unknown-input'] }, seen);
    const swept = renderReport(result, PLAIN);
    for (const text of [table, verdict.map(notice).join(''), swept]) {
      expect(text).not.toMatch(OBEYED);
      expect(text).not.toMatch(/^ *findings +none/m);
      expect(text).toContain('\\u001b[31mRED');
    }
    // Programs read this report, and get the original text.
    expect(JSON.parse(JSON.stringify(result.document))).toMatchObject({
      runs: [{ findings: [{ example: expect.stringContaining(found) }] }],
    });
  });
});

describe('an argument', () => {
  test.each([
    [['--scenario', HOSTILE.replace('\n', '')]],
    [[`--${HOSTILE}`]],
    [[HOSTILE]],
    [['--port', HOSTILE]],
    [['exec', '--', HOSTILE]],
    [['validate', HOSTILE]],
  ])('is shown without its control characters', async (args) => {
    const { code, stdout, stderr } = await runInProcess(args);
    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain('\\u001b[31mRED');
    expect(stdout + stderr).not.toMatch(OBEYED);
    expect(stdout + stderr).not.toMatch(/^ *findings +none/m);
  });
});
