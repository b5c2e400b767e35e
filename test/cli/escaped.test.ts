import { describe, expect, test } from 'vitest';
import { CallTracker } from '../../src/cli/call-tracker.ts';
import { formatAnnotation, renderMarkdownTable } from '../../src/cli/github.ts';
import { describeRun, judgeGates } from '../../src/cli/run-evidence.ts';
import { renderTable } from '../../src/terminal/table.ts';
import { escapeControls, escapeLines, formatNotice } from '../../src/terminal/terminal.ts';
import { serverFor } from '../helpers/deployment.ts';
import { runInProcess } from '../helpers/invocation.ts';
import { asker } from '../helpers/wire.ts';

const PLAIN = { width: 100, colour: false };

/** Sets a terminal's title, changes the colour, forges a line and reverses the rest. */
const HOSTILE = '\u001B]0;x\u0007\u001B[31mRED\nfindings  none\u202E\u009B';

/** Characters that control a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for these.
const OBEYED = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u2028-\u202E\u2066-\u2069]/;

test('terminal control characters are shown as JSON escapes', () => {
  expect(escapeControls('a\u001B[0m\nb\u202Ec\u2028d\u061Ce')).toBe(
    'a\\u001b[0m\\u000ab\\u202ec\\u2028d\\u061ce',
  );
  expect(escapeControls('Zoë, 猫, 🐈 "as they are"')).toBe('Zoë, 猫, 🐈 "as they are"');
  expect(escapeLines('a\n\u001Bb')).toBe('a\n\\u001bb');
  expect(formatNotice('a\nb')).toBe('petstore-mock: a\\u000ab\n');
});

test('input from a client cannot forge a line of the evidence or of a gate', async () => {
  const server = await serverFor();
  const body = { name: 'Rex', categoryId: 1, [HOSTILE]: 1 };
  await asker(server.port)('POST', '/pets', { body });
  const seen = { coverage: server.coverage(), findings: server.findings() };
  const facts = describeRun(seen, new CallTracker());
  const table = renderTable(facts, PLAIN);
  const reasons = [...judgeGates({ failOn: ['unknown-input'] }, seen).values()];
  for (const text of [table, reasons.map(formatNotice).join('')]) {
    expect(text).not.toMatch(OBEYED);
    expect(text).not.toMatch(/^ *findings +none/m);
    expect(text).toContain('\\u001b[31mRED');
  }
  expect(renderMarkdownTable(['run', ''], facts)).toMatch(/^(\| [^|]* \| [^|]* \|(?:\n|$))+$/);
});

test('GitHub gets text that is no Markdown and no command', () => {
  const row = ['a|b', '<img src=x> `c` [l](u) *e* _f_\n@g #1\\'];
  expect(renderMarkdownTable(['1|2', ''], [row])).toBe(
    '| 1&#124;2 |  |\n| --- | --- |\n| a&#124;b | &#60;img src=x&#62; &#96;c&#96; &#91;l&#93;(u) &#42;e&#42; &#95;f&#95;&#10;&#64;g &#35;1&#92; |',
  );
  const note = { file: '/repo/a,b:c.txt', line: 3, message: '100%: one\r\n::error::two' };
  expect(formatAnnotation(note, '/repo')).toBe(
    '::warning file=a%2Cb%3Ac.txt,line=3::100%25: one%0D%0A::error::two\n',
  );
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
