import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../../src/package.ts';
import { shippedScenarios } from '../../src/simulation/load-scenario.ts';
import { SCENARIO } from '../../src/simulation/read-scenario.ts';
import { RULE_SHAPE } from '../../src/simulation/scenario-rule.ts';
import { allBlocks, anchors, code, links, readPage, section, tableRows } from './page.ts';
import { stepsOf, Walk } from './walk.ts';

const DOCS = readdirSync(join(packageRoot, 'docs')).map((file) => `docs/${file}`);
const PAGES = ['README.md', 'CONTRIBUTING.md', ...DOCS];

/** What each page, or a part of one, has its reader do. */
const WALKS = [
  ...DOCS.map((file) => ({ of: file, steps: stepsOf(readPage(file)) })),
  {
    of: 'README.md, Scenarios, sandboxes and the control API',
    steps: stepsOf(section(readPage('README.md'), 'Scenarios, sandboxes and the control API')),
  },
];

describe.each(WALKS)('the examples of $of', ({ steps }) => {
  const walk = new Walk();
  beforeAll(() => walk.start());
  afterAll(() => walk.end());

  test.each(steps)('$label', (step) => walk.take(step));
});

test('every block of shell on a page is run, but for what needs a Docker engine', () => {
  const shells = DOCS.flatMap((file) => allBlocks(readPage(file))).map(({ info }) => info);
  const others = shells.filter(
    (info) => /^(?:bash|console|shell|sh)\b/.test(info) && info !== 'sh',
  );
  expect(others.filter((info) => info !== 'sh docker')).toEqual([]);
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
