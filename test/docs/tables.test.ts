import { expect, test } from 'vitest';
import { childEnvironment, describeEnding } from '../../src/cli/child.ts';
import { COMMAND_NAMES, type CommandName, commandShape } from '../../src/cli/command-table.ts';
import {
  ALIASES,
  FLAG_NAMES,
  type FlagName,
  flagShape,
  listFlags,
  listFlagsFrom,
  spell,
  variableFor,
} from '../../src/cli/flags.ts';
import { renderJson } from '../../src/cli/log.ts';
import { REPORT_FORMATS } from '../../src/cli/reports.ts';
import {
  ASSUMED_REPLIES,
  ASSUMPTION_IDS,
  ASSUMPTIONS,
  assumptionTopic,
  DOCUMENTED_REPLIES,
} from '../../src/core/contract/assumption-table.ts';
import { ERROR_CODES } from '../../src/core/contract/error-codes.ts';
import { OPERATION_IDS, operationShape } from '../../src/core/contract/operations.ts';
import { recordExchange } from '../../src/core/control/journal/recorded-exchange.ts';
import { LIMITS } from '../../src/core/limits.ts';
import { FINDING_CODE_NAMES } from '../../src/core/sandbox/report-shapes.ts';
import { FAULT_NAMES } from '../../src/core/scenario/fault-table.ts';
import { RULE_SHAPE } from '../../src/core/scenario/rule-shape.ts';
import { shippedScenarios } from '../../src/core/scenario/scenario-names.ts';
import { SCENARIO } from '../../src/core/scenario/scenario-shape.ts';
import { CREATE_MOCK_ROWS } from '../../src/features/in-process/options.ts';
import { FEATURES } from '../../src/features.ts';
import * as library from '../../src/index.ts';
import { packageRoot } from '../../src/server/files.ts';
import { NODE_PLATFORM } from '../../src/server/node-platform.ts';
import { listOptionNames } from '../../src/server/options.ts';
import { exchangeWith } from '../helpers/exchange.ts';
import { code, readPage, section, tableRows, withTable } from '../helpers/page.ts';

/*
 * The tables of docs/ that list something the code knows. To write them anew after a change of the
 * code: npx vitest run test/docs/tables.test.ts --update
 */

type Columns = readonly [titles: readonly string[], rows: readonly (readonly string[])[]];

const list = (title: string, cells: readonly (string | number)[]): Columns => [
  [title],
  cells.map((cell) => [String(cell)]),
];

/** What each limit bounds stands beside it. */
const LIMIT_TEXTS = new Map(
  Array.from(readPage('src/core/limits.ts').matchAll(/^ {2}(\w+): .*, \/\/ (.*)$/gm), (row) => [
    row[1],
    row[2] ?? '',
  ]),
);

const EXEC_VARIABLES = Object.keys(
  childEnvironment(
    { url: 'http://127.0.0.1/v1', controlToken: 't', certificate: undefined },
    {},
    [],
    {},
  ),
);

/** The tables of each page by the heading above: the columns that come from the code, and the rows. */
const TABLES: Readonly<Record<string, Readonly<Record<string, Columns>>>> = {
  'docs/command-line.md': {
    Commands: [
      ['command', 'does'],
      COMMAND_NAMES.map((name) => [
        code(`petstore-mock ${usageOf(name)}`),
        commandShape(name).summary,
      ]),
    ],
    'Flags of the server': [
      ['flag', 'environment variable', 'meaning'],
      listFlags('serve').map((name) => {
        const isVariable = listFlagsFrom('environment').includes(name);
        return [flagCell(name), isVariable ? code(variableFor(name)) : 'none', meaningCell(name)];
      }),
    ],
    'Flags of other commands': [
      ['flag', 'commands', 'meaning'],
      FLAG_NAMES.filter((name) => !flagShape(name).commands.includes('serve')).map((name) => [
        flagCell(name),
        flagShape(name).commands.map(code).join(', '),
        meaningCell(name),
      ]),
    ],
  },
  'docs/service.md': {
    'Operations and replies': [
      ['operation', 'request', 'documented', 'assumed'],
      OPERATION_IDS.map((id) => {
        const { method, path } = operationShape(id);
        const request = code(`${method} ${path}`);
        const [documented, assumed] = [DOCUMENTED_REPLIES, ASSUMED_REPLIES].map((replies) =>
          replies.flatMap((it) => (it.operation === id ? [it.status] : [])).join(', '),
        );
        return [code(id), request, documented ?? '', assumed ?? ''];
      }),
    ],
  },
  'docs/assumptions.md': Object.fromEntries(
    ASSUMPTION_IDS.map(assumptionTopic).map((topic) => {
      const ids = ASSUMPTION_IDS.filter((id) => assumptionTopic(id) === topic);
      const rows = ids.map((id) => {
        const { options, question } = ASSUMPTIONS[id];
        return [code(id), options.map(({ name }) => code(name)).join(', '), question];
      });
      return [topic, [['id', 'options', 'question'], rows] as const];
    }),
  ),
  'docs/errors.md': {
    'Error codes': [
      ['code', 'status'],
      Object.entries(ERROR_CODES).map(([name, { statuses }]) => [
        code(name),
        statuses.join(', ') || 'any',
      ]),
    ],
    Findings: list('code', FINDING_CODE_NAMES.map(code)),
    Limits: [
      ['what', 'limit'],
      Object.entries(LIMITS).map(([name, max]) => [
        LIMIT_TEXTS.get(name) ?? '',
        max.toLocaleString('en'),
      ]),
    ],
    'Exit codes': list('code', [
      ...[0, 1, 2, 3],
      describeEnding({ kind: 'timed-out', seconds: 1 }).exitCode,
      describeEnding({ kind: 'not-started', code: 'EACCES' }).exitCode,
      describeEnding({ kind: 'not-started', code: 'ENOENT' }).exitCode,
      `${describeEnding({ kind: 'signalled', signal: 'SIGKILL' }).exitCode - 9} + _n_`,
      'any other',
    ]),
  },
  'docs/scenario-format.md': {
    Fields: fieldsOf(SCENARIO.schema),
    Rules: fieldsOf(RULE_SHAPE.schema),
    Faults: list('fault', FAULT_NAMES.map(code)),
    'Scenarios that ship': [
      ['scenario', 'description'],
      shippedScenarios(NODE_PLATFORM).map(({ name, description }) => [code(name), description]),
    ],
  },
  'docs/coverage.md': {
    'Run a command under `exec`': list('variable', EXEC_VARIABLES.map(code)),
    'Write reports': list('extension', Object.keys(REPORT_FORMATS).map(code)),
  },
};

/** The usage line of a command, without the program's name. */
function usageOf(name: CommandName): string {
  return name === 'serve' ? '[serve]' : `${name} ${commandShape(name).takes[0]}`.trimEnd();
}

function flagCell(name: FlagName): string {
  const { placeholder } = flagShape(name);
  const alias = ALIASES[name];
  const spelled = `--${spell(name)}`;
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

interface Schema {
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
}

function fieldsOf({ properties = {} }: Schema): Columns {
  const fields = Object.entries(properties);
  return [
    ['field', 'meaning'],
    fields.map(([name, { description = '' }]) => [code(name), description]),
  ];
}

test.each(Object.entries(TABLES))(
  'the tables of %s list what the code has, and nothing else',
  async (page, tables) => {
    const all = Object.entries(tables).map(([under, [columns, rows]]) => ({
      under,
      columns,
      rows,
    }));
    const written = all.reduce(withTable, readPage(page));
    await expect(written).toMatchFileSnapshot(`${packageRoot}/${page}`);
    for (const { under, columns } of all) {
      const rows = tableRows(section(written, under), columns[0] ?? '');
      expect(rows.flat(), `Empty cells under ${under}`).not.toContain('');
    }
  },
);

test('the README counts the assumptions and the scenarios that ship', () => {
  const readme = readPage('README.md');
  expect(readme).toContain(`There are ${ASSUMPTION_IDS.length} such [assumptions]`);
  expect(readme).toContain(
    `[${shippedScenarios(NODE_PLATFORM).length} scenarios ship with the package]`,
  );
});

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

test('docs/command-line.md names every member of a JSON line of the log', () => {
  const exchange = exchangeWith({
    operation: 'getPet',
    status: 200,
    number: 2,
    clockMoved: true,
    replays: 1,
    hold: { name: 'list', since: 0 },
    request: { headers: ['traceparent', TRACE], body: undefined, size: 0 },
    fault: { kind: 'truncate' },
    delay: 5,
    basis: {
      kind: 'forced',
      by: 'flaky#1',
      offContract: { problems: ['status'], declared: false },
    },
    authorization: 'Bearer demo-key',
    reasons: ['a rule'],
    patched: ['status: 200 → 503'],
    duration: 5,
  });
  const line = renderJson('default', recordExchange(exchange));
  const [, names = ''] =
    /has the members (.*)\. Members/.exec(readPage('docs/command-line.md')) ?? [];
  const members = [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  expect(members).toEqual(Object.keys(JSON.parse(line)));
});

test('docs/in-process.md lists every option', () => {
  const options = section(readPage('docs/in-process.md'), 'Options');
  const [shared = ''] = /: (`\w+`.*)\. Besides/.exec(options) ?? [];
  const own = tableRows(options, 'option').map(([cell]) => cell);
  const listed = [...`${shared}${own}`.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  expect(listed.sort()).toEqual(Object.keys(CREATE_MOCK_ROWS).sort());
});

test('docs/library-api.md lists every export, option and part of a mock', async () => {
  const page = readPage('docs/library-api.md');
  const listed = (title: string, column: string) =>
    tableRows(section(page, title), column).flatMap(([cell = '']) =>
      [...cell.matchAll(/`(\w+)/g)].map(([, name = '']) => name),
    );
  const exported = [...listed('Functions', 'function'), ...listed('Errors', 'error')];
  expect(exported.filter((name) => name !== 'Error').sort()).toEqual(Object.keys(library).sort());
  expect(listed('Options', 'option').sort()).toEqual(listOptionNames(FEATURES).toSorted());
  await using mock = await library.startPetstoreMock();
  expect(listed('Parts of a mock', 'part').sort()).toEqual(Object.keys(mock).sort());
});
