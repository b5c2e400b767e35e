import { PassThrough } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { parseCommandLine } from '../../src/cli/command-parser.ts';
import { COMMAND_NAMES, type CommandName } from '../../src/cli/command-table.ts';
import { renderAssumption, renderAssumptions } from '../../src/cli/commands/assumptions.ts';
import { ACTION_NAMES } from '../../src/cli/commands/ctl-actions.ts';
import { renderBanner } from '../../src/cli/commands/serve.ts';
import { listFlags, spell } from '../../src/cli/flags.ts';
import { ASSUMPTION_IDS } from '../../src/core/contract/assumption-table.ts';
import type { ServerOptions } from '../../src/index.ts';
import { renderTable } from '../../src/terminal/table.ts';
import { createTerminal } from '../../src/terminal/terminal.ts';

const PLAIN = { width: 80, colour: false };

async function helpFor(command: CommandName): Promise<string> {
  return String(await parseCommandLine([command, '--help'], PLAIN.width));
}

describe('the help', () => {
  test.each(COMMAND_NAMES)('of %s names its flags and has an example', async (command) => {
    const text = await helpFor(command);
    for (const flag of listFlags(command)) expect(text).toMatch(`--${spell(flag)} `);
    expect(text).toMatch(/^Examples:\n {2}# .*\n {2}petstore-mock /m);
    expectToFit(text);
  });

  test('names every command and every action of ctl', async () => {
    const [program, ctl] = [await helpFor('serve'), await helpFor('ctl')];
    for (const name of COMMAND_NAMES) expect(program).toMatch(`  petstore-mock ${name}`);
    for (const name of ACTION_NAMES) expect(ctl).toMatch(new RegExp(`^- ${name}\\b.*: `, 'm'));
  });

  test.each([
    ['help', 'serve'],
    ['exec help', 'exec'],
    ['help ctl', 'ctl'],
    ['run --bogus -h', 'serve'],
    ['sweep --help -- npm test', 'sweep'],
  ] as const)('is what "%s" asks for', async (line, command) => {
    expect(await parseCommandLine(line.split(' '), PLAIN.width)).toBe(await helpFor(command));
  });
});

/** Expects a text without escapes to fit 80 columns. */
function expectToFit(text: string): void {
  expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(text).not.toContain('\u001B');
}

test('assumptions fit 80 columns, in the table and explained', () => {
  expectToFit(renderAssumptions({}, PLAIN));
  for (const id of ASSUMPTION_IDS) expectToFit(renderAssumption(id, {}, PLAIN));
});

test('an explained assumption shows what each option means and the operations it touches', () => {
  expect(renderAssumption('cancel-again', { 'cancel-again': '204' }, PLAIN)).toBe(
    `cancel-again
What does DELETE return for an order that is already cancelled?

Options
  409*  409 Conflict
  404   404 Not Found
  >204  204 No Content

Touches
  cancelOrder

* the default   > chosen
--assume cancel-again=404 changes it.
`,
  );
});

test('a table wraps its cells and has no trailing spaces', () => {
  const rows = [
    ['a b c', 'one two three'],
    ['d', 'four'],
  ];
  expect(renderTable(rows, { width: 14 })).toBe(
    '  a b   one\n  c     two\n        three\n  d     four\n',
  );
});

test('a table can have more rows than a call has arguments', () => {
  const rows = Array.from({ length: 200_000 }, (_, id) => [String(id), 'Rex']);
  expect(renderTable(rows, { width: 80 }, 0)).toMatch(/\n199999 {2}Rex\n$/);
});

test('columns are as wide as a terminal draws their characters', () => {
  const rows = [
    ['日本語の名前', 'six wide ones'],
    ['e\u0301te\u0301', 'two that combine'],
    ['ｆｕｌｌ', 'four full-width ones'],
    ['ﾊﾝｶｸ 한', 'half-width, and a wide one'],
  ];
  expect(renderTable(rows, { width: 80 }, 0)).toBe(
    '日本語の名前  six wide ones\n' +
      'e\u0301te\u0301           two that combine\n' +
      'ｆｕｌｌ      four full-width ones\n' +
      'ﾊﾝｶｸ 한       half-width, and a wide one\n',
  );
});

describe('the banner', () => {
  const URL = 'http://127.0.0.1:4010/v1';
  const bannerOf = (options: ServerOptions = {}, controlToken?: string) =>
    renderBanner({ url: URL, certificate: undefined, controlToken }, options, PLAIN);

  test('shows a curl line, the control API, further commands and how to stop', () => {
    expect(bannerOf()).toBe(`
  Try it: curl -H 'Authorization: Bearer demo-key' '${URL}/pets?limit=3'
  Dashboard: http://127.0.0.1:4010/__mock/
  List its assumptions: petstore-mock assumptions
  List the scenarios: petstore-mock scenarios
  Stop it: Ctrl-C

`);
  });

  test.each([
    ['one that is not listed as invalid', { valid: ['a', 'b'], invalid: ['a'] }, 'Bearer b'],
    ['a read-only one where there is no other', { valid: [], readOnly: ['r'] }, 'Bearer r'],
    ['one that the shell would split', { valid: ["it's"] }, "Bearer it'\\''s'"],
  ])('uses %s', (_what, keys, expected) => {
    expect(bannerOf({ keys })).toContain(expected);
  });

  test('shows a generated token, and no curl line if no key works', () => {
    const text = bannerOf({ keys: { valid: [], readOnly: [] } }, 'drawn');
    expect(text).toContain('  Control token: drawn\n');
    expect(text).not.toContain('curl');
  });
});

test.each<[what: string, output: object, env: Record<string, string>, style: object]>([
  ['a pipe', {}, {}, { width: Number.POSITIVE_INFINITY, colour: false }],
  ['a screen', { isTTY: true, columns: 90 }, {}, { width: 90, colour: true }],
  ['a narrow screen', { isTTY: true, columns: 40 }, {}, { width: 80 }],
  ['NO_COLOR', { isTTY: true }, { NO_COLOR: '1' }, { colour: false }],
  ['a dumb terminal', { isTTY: true }, { TERM: 'dumb' }, { colour: false }],
])('%s has its own style', (_what, members, env, style) => {
  const output = Object.assign(new PassThrough(), members);
  const terminal = createTerminal(output, new PassThrough(), env);
  expect(terminal.style).toMatchObject(style);
  expect(terminal.interactive).toBe('isTTY' in members);
});

describe('completion offers', () => {
  const options = ['cancel-again=409', 'cancel-again=404', 'cancel-again=204'];
  const flags = listFlags('serve').map((name) => `--${spell(name)}`);

  // biome-ignore format: a row for each
  test.each([
    ['each option of each assumption', ['--assume', 'cancel-a'], options],
    ['options alone, where bash splits', ['--assume', 'cancel-again', '=', ''], ['409', '404', '204']],
    ['the same at the sign itself', ['--assume', 'cancel-again', '='], ['409', '404', '204']],
    ['ids', ['assumptions', 'order'], ['order-status-field', 'order-shipping']],
    ['scenarios', ['--scenario', 'slow', '--scenario', 'sh'], ['shipped-orders']],
    ['the flags of serve before any command', ['--'], flags],
  ])('%s', async (_what, typed, offered) => {
    vi.stubEnv('SHELL', '/bin/bash').stubEnv('ZSH_NAME', '');
    const words = ['--get-yargs-completions', 'petstore-mock', ...typed];
    const text = String(await parseCommandLine(words, 80));
    expect(text.trimEnd().split('\n').sort()).toEqual(offered.toSorted());
  });
});
