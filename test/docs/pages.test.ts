import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandEnvironment } from '../../src/cli/child/command-environment.ts';
import { DOCUMENTED_REPLIES } from '../../src/contract/cases.ts';
import { ENDPOINTS } from '../../src/control/endpoints.ts';
import { FINDING_CODE_NAMES } from '../../src/evidence/findings.ts';
import { startPetstoreMock } from '../../src/index.ts';
import { packageRoot } from '../../src/package.ts';
import { coverageFormats } from '../../src/report/write.ts';
import { shippedScenarios } from '../../src/scenario/load-scenario.ts';
import { SCENARIO } from '../../src/scenario/read-scenario.ts';
import { RULE_SHAPE } from '../../src/scenario/rule-shape.ts';
import { allBlocks, anchors, blocks, code, links, readPage, section, tableRows } from './page.ts';
import { printedBy, promisedBy, usesOf } from './program.ts';
import { stepsOf, Walk } from './walk.ts';

const DOCS = readdirSync(join(packageRoot, 'docs'))
  .filter((file) => file.endsWith('.md'))
  .map((file) => `docs/${file}`);
const PAGES = ['README.md', 'CONTRIBUTING.md', ...DOCS];

/** What each page, or a part of one, has its reader do. */
const WALKS = [
  ...DOCS.map((file) => ({ of: file, steps: stepsOf(readPage(file)) })).filter(
    ({ steps }) => steps.length > 0,
  ),
  ...[
    ['Scenarios, sandboxes and the control API'],
    // The client of the one is called again by the other.
    ['How much of the service has my client seen\\?', 'The log'],
  ].map((titles) => ({
    of: `README.md, ${titles.join(' and ')}`,
    steps: stepsOf(titles.map((title) => section(readPage('README.md'), title)).join('')),
  })),
];

describe.each(WALKS)('the examples of $of', ({ steps }) => {
  const walk = new Walk();
  beforeAll(() => walk.start());
  afterAll(() => walk.end());

  test.each(steps)('$label', (step) => walk.take(step));
});

test('every block of shell on a page is run, but for what needs a Docker engine', () => {
  const all = DOCS.flatMap((file) => allBlocks(readPage(file)));
  // One with the name of a file is a script; the next test is about those.
  const shells = all.map(({ info }) => info).filter((info) => !info.includes('.'));
  const others = shells.filter(
    (info) => /^(?:bash|console|shell|sh)\b/.test(info) && info !== 'sh',
  );
  expect(others.filter((info) => info !== 'sh docker')).toEqual([]);
});

test.each(WALKS)('every file of $of is used by a line after it', ({ steps }) => {
  const unused = steps.filter((step, index) => {
    if (step.kind !== 'save') return false;
    const later = steps.slice(index).flatMap((it) => (it.kind === 'type' ? [it.command] : []));
    return !later.some((command) => command.split(' ').includes(step.file));
  });
  expect(unused).toEqual([]);
});

test.each(PAGES)('every link of %s leads somewhere', (page) => {
  const broken = links(readPage(page)).filter(({ file, anchor }) => {
    const target = file === '' ? page : normalize(join(dirname(page), file));
    if (!existsSync(join(packageRoot, target))) return true;
    return anchor !== undefined && !anchors(readPage(target)).includes(anchor);
  });
  expect(broken).toEqual([]);
});

describe('docs/scenarios.md', () => {
  const page = readPage('docs/scenarios.md');

  /** The first cells of a table, without their backticks. */
  function names(title: string, column: string): string[] {
    return tableRows(section(page, title), column).map(([cell = '']) => cell.replaceAll('`', ''));
  }

  function members({ properties }: { readonly properties?: unknown }): string[] {
    return Object.keys(properties ?? {});
  }

  test('lists every scenario that ships with what it says of itself, and no other', () => {
    const shipped = shippedScenarios();
    expect(tableRows(section(page, 'Scenarios that ship'), 'scenario')).toEqual(
      shipped.map(({ name, description }) => [code(name), description]),
    );
    expect(page).toContain(`[${shipped.length} of them](#scenarios-that-ship)`);
  });

  test('lists every field of a scenario and of a rule, and no other', () => {
    expect(names('Fields', 'field').slice(0, members(SCENARIO.schema).length)).toEqual(
      members(SCENARIO.schema),
    );
    expect(names('Rules', 'field').sort()).toEqual(members(RULE_SHAPE.schema).sort());
  });

  test('lists every fault, and no other', () => {
    const text = JSON.stringify(RULE_SHAPE.schema);
    const [, all = ''] = /"enum":(\[[^\]]*"malformed-json"[^\]]*\])/.exec(text) ?? [];
    expect(names('Faults', 'fault')).toEqual(JSON.parse(all));
  });
});

describe('docs/control-api.md', () => {
  const page = readPage('docs/control-api.md');
  const endpoints = ENDPOINTS.map(({ method, path }) => `${method.toUpperCase()} ${path.slice(1)}`);

  test('lists every endpoint, and no other', () => {
    const listed = tableRows(section(page, 'Endpoints'), 'endpoint').map(([cell]) => cell);
    expect([...listed].sort()).toEqual(endpoints.map(code).sort());
  });

  test('calls every endpoint', () => {
    const commands = stepsOf(page).flatMap((step) => (step.kind === 'type' ? [step.command] : []));
    const lines = commands.flatMap((command) => command.split(/ & |; /));
    const called = lines.flatMap((line) => {
      const [, path] = /'http:\/\/127\.0\.0\.1:4010\/__mock\/([^'?]+)/.exec(line) ?? [];
      return path === undefined ? [] : [`${/-X ([A-Z]+)/.exec(line)?.[1] ?? 'GET'} ${path}`];
    });
    const uncalled = endpoints.filter((endpoint) => {
      const pattern = new RegExp(`^${endpoint.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
      return !called.some((call) => pattern.test(call));
    });
    expect(uncalled).toEqual([]);
  });
});

describe('docs/evidence.md', () => {
  const page = readPage('docs/evidence.md');

  test('lists every finding with what it is, why it matters and what to do, and no other', () => {
    const rows = tableRows(section(page, 'Findings'), 'code');
    expect(rows.map(([name]) => name)).toEqual(FINDING_CODE_NAMES.map(code));
    expect(rows.flat().filter((cell) => cell === '')).toEqual([]);
    expect(new Set(rows.map(({ length }) => length))).toEqual(new Set([4]));
  });

  test('lists every form of a report, and no other', () => {
    const rows = tableRows(section(page, 'Reports'), 'ending');
    expect(rows.map(([ending]) => ending).sort()).toEqual(
      Object.keys(coverageFormats).map(code).sort(),
    );
  });

  test('lists every variable that a command is told of the server by', () => {
    const told = commandEnvironment({ url: 'http://127.0.0.1/v1', controlToken: 't' }, {}, [], {});
    const rows = tableRows(section(page, 'Beside a command'), 'variable');
    expect(rows.map(([name]) => name)).toEqual(Object.keys(told).map(code));
  });

  test('counts what there is to be shown', () => {
    expect(page).toContain(`prescribes ${DOCUMENTED_REPLIES.length} replies`);
  });
});

describe('docs/library.md', () => {
  const page = readPage('docs/library.md');

  test.each(blocks(page, 'js').map((program) => ({ program, uses: usesOf(program) })))(
    'prints what it says it prints: $uses',
    async ({ program }) => expect(await printedBy(program)).toEqual(promisedBy(program)),
  );

  test('shows nothing else but what the examples hold', () => {
    const examples = ['vitest', 'playwright'].flatMap((name) => {
      const folder = join(packageRoot, 'examples', name);
      return readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
    });
    const shown = [...blocks(page, 'ts'), ...blocks(readPage('README.md'), 'ts')];
    expect(shown).toHaveLength(4);
    expect(shown.filter((text) => !examples.some((it) => it.includes(text)))).toEqual([]);
  });

  test('lists every part of a mock, and no other', async () => {
    await using mock = await startPetstoreMock();
    const cells = tableRows(section(page, 'What there is to control'), 'part').map(
      ([cell]) => cell,
    );
    const listed = [...cells.join().matchAll(/`(\w+)/g)].map(([, name = '']) => name);
    expect(listed.sort()).toEqual(Object.keys(mock).sort());
  });
});
