import { describe, expect, test } from 'vitest';
import { escaped, escapedLines, notice } from '../../src/cli/output/escaped.ts';
import { foundIn, judge, renderEvidence } from '../../src/cli/output/evidence.ts';
import { sweepDocument } from '../../src/cli/sweep/render-files.ts';
import { renderSweep } from '../../src/cli/sweep/render-text.ts';
import { Tail } from '../../src/cli/sweep/tail.ts';
import { Touched } from '../../src/cli/sweep/touched.ts';
import { startServer } from '../../src/index.ts';
import { asker } from '../helpers/ask.ts';
import { runCommand } from '../helpers/command.ts';

const PLAIN = { width: 100, colour: false };

/** Sets a terminal's title, colours what follows, forges a line and turns the rest around. */
const HOSTILE = '\u001B]0;owned\u0007\u001B[31mRED\n  findings         none\u202E\u009Blive';

/** What a terminal would obey. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const OBEYED = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u2028-\u202E\u2066-\u2069]/;

test('what a terminal would obey is shown as JSON would write it', () => {
  expect(escaped('a\u001B[0m\nb\u202Ec\u2028d\u061Ce')).toBe(
    'a\\u001b[0m\\u000ab\\u202ec\\u2028d\\u061ce',
  );
  expect(escaped('Zoë, 猫, 🐈 "as they are"')).toBe('Zoë, 猫, 🐈 "as they are"');
  expect(escapedLines('a\n\u001Bb')).toBe('a\n\\u001bb');
  expect(notice('a\nb')).toBe('petstore-mock: a\\u000ab\n');
});

describe('what a client sends', () => {
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

  test('forges no line of the evidence, of a verdict or of a sweep', async () => {
    const seen = await report();
    const findings = foundIn(seen.findings);
    expect(findings).toMatchObject([{ code: 'unknown-input', count: 1 }]);
    expect(findings[0]?.example).toContain(HOSTILE);
    const run = {
      assumption: 'cors',
      option: 'absent',
      verdict: 'failed',
      ending: { kind: 'exited', code: 1 },
      seconds: 1,
      lastLines: ['it failed'],
      findings,
      passedAlone: false,
    } as const;
    const result = {
      command: ['x'],
      baselineSeconds: 1,
      runs: [run],
      untouched: [],
      decided: [],
      notRun: [],
    };
    const table = renderEvidence(seen, new Touched(), PLAIN);
    const verdict = judge({ 'fail-on': ['unknown-input'] }, seen);
    const swept = renderSweep(result, PLAIN);
    for (const text of [table, verdict.map(notice).join(''), swept]) {
      expect(text).not.toMatch(OBEYED);
      expect(text).not.toMatch(/^ *findings +none/m);
      expect(text).toContain('\\u001b[31mRED\\u000a');
    }
    // Programs read this one, and get what was sent.
    expect(JSON.parse(JSON.stringify(sweepDocument(result)))).toMatchObject({
      runs: [{ findings: [{ example: expect.stringContaining(HOSTILE) }] }],
    });
  });
});

test('the last lines of a command cannot turn a line around', () => {
  const tail = new Tail();
  tail.add(Buffer.from('a\u202Eb\u2066c\u2028d\u001B[31me\n'));
  expect(tail.lines(1)).toEqual(['abcde']);
});

describe.concurrent('an argument', () => {
  test.each([
    [['--scenario', HOSTILE.replace('\n', '')]],
    [[`--${HOSTILE}`]],
    [[HOSTILE]],
    [['--port', HOSTILE]],
    [['exec', '--', HOSTILE]],
    [['validate', HOSTILE]],
  ])('is shown, and obeyed by no terminal', async (args) => {
    const { code, stdout, stderr } = await runCommand(args);
    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain('\\u001b[31mRED');
    expect(stdout + stderr).not.toMatch(OBEYED);
    expect(stdout + stderr).not.toMatch(/^ *findings +none/m);
  });
});
