import { expect, test } from 'vitest';
import { commandEnvironment, exitCodeOf } from '../../src/cli/child.ts';
import { COMMAND_NAMES, type CommandName, commandShape } from '../../src/cli/command-table.ts';
import {
  FLAG_NAMES,
  type FlagName,
  flagShape,
  flagsFrom,
  flagsOf,
  spellingOf,
} from '../../src/cli/flags.ts';
import { renderJson } from '../../src/cli/log.ts';
import { variableOf } from '../../src/cli/settings.ts';
import { ASSUMPTION_IDS, ASSUMPTIONS, topicOf } from '../../src/contract/assumption-table.ts';
import {
  ASSUMED_REPLIES,
  DOCUMENTED_REPLIES,
  type PossibleReply,
} from '../../src/contract/cases.ts';
import { ERROR_CODES } from '../../src/contract/error-codes.ts';
import { OPERATION_IDS, operationShape } from '../../src/contract/operations.ts';
import { ENDPOINTS } from '../../src/control/endpoints.ts';
import { observedExchange } from '../../src/evidence/exchange.ts';
import { FINDING_CODE_NAMES } from '../../src/evidence/finding-codes.ts';
import * as library from '../../src/index.ts';
import { packageRoot } from '../../src/package.ts';
import { REPORT_FORMATS } from '../../src/report/coverage-report.ts';
import { shippedScenarios } from '../../src/scenario/load-scenario.ts';
import { RULE_SHAPE } from '../../src/scenario/rule-shape.ts';
import { SCENARIO } from '../../src/scenario/scenario-shape.ts';
import { exchangeWith } from '../helpers/exchange.ts';
import { code, readPage, section, type Table, tableRows, withTable } from '../helpers/page.ts';

/*
 * The tables of docs/ that list something the code knows. To write them anew after a change of the
 * code: npx vitest run test/docs/tables.test.ts --update
 */

const TABLES: readonly Table[] = [
  {
    page: 'docs/command-line.md',
    under: 'Commands',
    columns: ['command', 'does'],
    rows: COMMAND_NAMES.map((name) => [
      code(`petstore-mock ${usageOf(name)}`),
      commandShape(name).summary,
    ]),
  },
  {
    page: 'docs/command-line.md',
    under: 'Flags of the server',
    columns: ['flag', 'environment variable', 'meaning'],
    rows: flagsOf('serve').map((name) => [
      flagCell(name),
      flagsFrom('environment').includes(name) ? code(variableOf(name)) : 'none',
      meaningCell(name),
    ]),
  },
  {
    page: 'docs/command-line.md',
    under: 'Flags of other commands',
    columns: ['flag', 'commands', 'meaning'],
    rows: FLAG_NAMES.filter((name) => !flagShape(name).commands.includes('serve')).map((name) => [
      flagCell(name),
      flagShape(name).commands.map(code).join(', '),
      meaningCell(name),
    ]),
  },
  {
    page: 'docs/service.md',
    under: 'Operations and replies',
    columns: ['operation', 'request', 'documented', 'assumed'],
    rows: OPERATION_IDS.map((id) => [
      code(id),
      code(`${operationShape(id).method} ${operationShape(id).path}`),
      statusesOf(DOCUMENTED_REPLIES, id),
      statusesOf(ASSUMED_REPLIES, id),
    ]),
  },
  ...[...new Set(ASSUMPTION_IDS.map(topicOf))].map((topic) => ({
    page: 'docs/assumptions.md',
    under: topic,
    columns: ['id', 'options', 'question'],
    rows: ASSUMPTION_IDS.filter((id) => topicOf(id) === topic).map((id) => [
      code(id),
      ASSUMPTIONS[id].options.map(({ name }) => code(name)).join(', '),
      ASSUMPTIONS[id].question,
    ]),
  })),
  {
    page: 'docs/errors.md',
    under: 'Error codes',
    columns: ['code', 'status'],
    rows: Object.entries(ERROR_CODES).map(([name, { statuses }]) => [
      code(name),
      statuses.join(', ') || 'any',
    ]),
  },
  {
    page: 'docs/errors.md',
    under: 'Exit codes',
    columns: ['code'],
    rows: [
      ...[0, 1, 2, 3],
      exitCodeOf({ kind: 'timed-out', seconds: 1 }),
      exitCodeOf({ kind: 'not-started', code: 'EACCES' }),
      exitCodeOf({ kind: 'not-started', code: 'ENOENT' }),
      `${exitCodeOf({ kind: 'signalled', signal: 'SIGKILL' }) - 9} + _n_`,
      'any other',
    ].map((it) => [String(it)]),
  },
  {
    page: 'docs/control-api.md',
    under: 'Endpoints',
    columns: ['endpoint', 'does'],
    rows: ENDPOINTS.map(({ method, path, summary }) => [
      code(`${method.toUpperCase()} ${path.slice(1)}`),
      summary,
    ]),
  },
  {
    page: 'docs/scenario-format.md',
    under: 'Fields',
    columns: ['field', 'meaning'],
    rows: fieldsOf(SCENARIO.schema),
  },
  {
    page: 'docs/scenario-format.md',
    under: 'Rules',
    columns: ['field', 'meaning'],
    rows: fieldsOf(RULE_SHAPE.schema),
  },
  {
    page: 'docs/scenario-format.md',
    under: 'Faults',
    columns: ['fault'],
    rows: faultNames().map((name) => [code(name)]),
  },
  {
    page: 'docs/scenario-format.md',
    under: 'Scenarios that ship',
    columns: ['scenario', 'description'],
    rows: shippedScenarios().map(({ name, description }) => [code(name), description]),
  },
  {
    page: 'docs/findings.md',
    under: 'Findings',
    columns: ['code'],
    rows: FINDING_CODE_NAMES.map((name) => [code(name)]),
  },
  {
    page: 'docs/findings.md',
    under: 'Report formats',
    columns: ['extension'],
    rows: Object.keys(REPORT_FORMATS).map((extension) => [code(extension)]),
  },
  {
    page: 'docs/coverage.md',
    under: 'Run a command under `exec`',
    columns: ['variable'],
    rows: Object.keys(
      commandEnvironment(
        { url: 'http://127.0.0.1/v1', controlToken: 't', certificate: undefined },
        {},
        [],
        {},
      ),
    ).map((name) => [code(name)]),
  },
];

/** The usage line of a command, without the program's name. */
function usageOf(name: CommandName): string {
  return name === 'serve' ? '[serve]' : `${name} ${commandShape(name).takes[0]}`.trimEnd();
}

function flagCell(name: FlagName): string {
  const { placeholder, alias } = flagShape(name);
  const spelled = `--${spellingOf(name)}`;
  const flag = code(placeholder === undefined ? spelled : `${spelled} ${placeholder}`);
  return alias === undefined ? flag : `${flag}, ${code(`-${alias}`)}`;
}

/** The line of the help, and the bounds of an integer. */
function meaningCell(name: FlagName): string {
  const { description, shape } = flagShape(name);
  const { minimum: from, maximum: to }: { minimum?: number; maximum?: number } = shape.schema;
  if (from === undefined || to === undefined) return description;
  return `${description} From ${from.toLocaleString('en')} to ${to.toLocaleString('en')}.`;
}

function statusesOf(replies: readonly PossibleReply[], id: string): string {
  return replies.flatMap(({ operation, status }) => (operation === id ? [status] : [])).join(', ');
}

interface Schema {
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
}

function fieldsOf({ properties = {} }: Schema): string[][] {
  return Object.entries(properties).map(([name, { description = '' }]) => [
    code(name),
    description,
  ]);
}

function faultNames(): string[] {
  const text = JSON.stringify(RULE_SHAPE.schema);
  const [, names = ''] = /"enum":(\[[^\]]*"malformed-json"[^\]]*\])/.exec(text) ?? [];
  return JSON.parse(names);
}

const PAGES = [...new Set(TABLES.map(({ page }) => page))];

test.each(PAGES)('the tables of %s list what the code has, and nothing else', async (page) => {
  const tables = TABLES.filter((table) => table.page === page);
  const written = tables.reduce(withTable, readPage(page));
  await expect(written).toMatchFileSnapshot(`${packageRoot}/${page}`);
  for (const { under, columns } of tables) {
    const rows = tableRows(section(written, under), columns[0] ?? '');
    expect(
      rows.filter((row) => row.includes('')),
      `Empty cells under ${under}`,
    ).toEqual([]);
  }
});

test('the README counts the assumptions and the scenarios that ship', () => {
  const readme = readPage('README.md');
  expect(readme).toContain(`There are ${ASSUMPTION_IDS.length} such [assumptions]`);
  expect(readme).toContain(`[${shippedScenarios().length} scenarios ship with the package]`);
});

test('docs/command-line.md names every member of a JSON line of the log', () => {
  const exchange = exchangeWith({
    operation: 'getPet',
    status: 200,
    fault: 'truncate',
    delay: 5,
    basis: { kind: 'forced', by: 'flaky#1' },
    authorization: 'Bearer demo-key',
    decision: 'a rule',
    duration: 5,
  });
  const line = renderJson('default', observedExchange(exchange));
  const [, told = ''] =
    /has the members (.*)\. Members/.exec(readPage('docs/command-line.md')) ?? [];
  const members = [...told.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  expect(members).toEqual(Object.keys(JSON.parse(line)));
});

test('docs/library-api.md lists every export and every part of a mock', async () => {
  const page = readPage('docs/library-api.md');
  const listed = (title: string, column: string) =>
    tableRows(section(page, title), column).flatMap(([cell = '']) =>
      [...cell.matchAll(/`(\w+)/g)].map(([, name = '']) => name),
    );
  const exported = [...listed('Functions', 'function'), ...listed('Errors', 'error')];
  expect(exported.filter((name) => name !== 'Error').sort()).toEqual(Object.keys(library).sort());
  await using mock = await library.startPetstoreMock();
  expect(listed('Parts of a mock', 'part').sort()).toEqual(Object.keys(mock).sort());
});
