import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { BASE_PATH, OPERATION_IDS, operationShape } from '../../src/core/contract/operations.ts';
import { ENDPOINTS } from '../../src/core/control/endpoints.ts';
import { packageRoot } from '../../src/server/files.ts';
import { allBlocks, anchors, blocks, DOCS, links, readPage, section } from '../helpers/page.ts';
import { type Step, stepsOf } from '../helpers/walk.ts';

const PAGES = ['README.md', 'SKILL.md', 'SECURITY.md', 'CONTRIBUTING.md', ...DOCS];
const WALKS = ['README.md', 'SKILL.md', ...DOCS].filter(
  (page) => stepsOf(readPage(page)).length > 0,
);

test('every block of shell is run, except those that need Docker or a clone', () => {
  const infos = ['README.md', 'SKILL.md', ...DOCS].flatMap((page) =>
    allBlocks(readPage(page)).map(({ info }) => info),
  );
  const shells = infos.filter((info) => /^(?:bash|console|shell|sh)\b/.test(info));
  const others = shells.filter((info) => info !== 'sh' && !/^\w+ [\w-]+\.sh$/.test(info));
  expect(new Set(others)).toEqual(new Set(['sh docker', 'sh clone']));
});

function commands(steps: readonly Step[]): string[] {
  return steps.flatMap((step) => (step.kind === 'run' ? [step.command] : []));
}

test.each(WALKS)('every file of %s is used by a command after it', (page) => {
  const steps = stepsOf(readPage(page));
  const unused = steps.filter(
    (step, index) =>
      step.kind === 'save' &&
      !commands(steps.slice(index)).some((command) => command.split(' ').includes(step.file)),
  );
  expect(unused).toEqual([]);
});

test('every block of TypeScript and of CommonJS is in an example, which the tests run', () => {
  const examples = ['vitest', 'playwright', 'jest', 'in-process'].flatMap((name) => {
    const folder = join(packageRoot, 'examples', name);
    const files = readdirSync(folder).filter((file) => /\.[cm]?[jt]s$/.test(file));
    return files.map((file) => readFileSync(join(folder, file), 'utf8'));
  });
  const shown = PAGES.flatMap((page) =>
    ['ts', 'cjs'].flatMap((info) => blocks(readPage(page), info)),
  );
  expect(shown.length).toBeGreaterThan(3);
  expect(shown.filter((text) => !examples.some((it) => it.includes(text)))).toEqual([]);
});

test.each(PAGES)('every link of %s has a target', (page) => {
  const broken = links(readPage(page)).filter(({ file, anchor }) => {
    const target = file === '' ? page : normalize(join(dirname(page), file));
    if (!existsSync(join(packageRoot, target))) return true;
    return anchor !== undefined && !anchors(readPage(target)).includes(anchor);
  });
  expect(broken).toEqual([]);
});

test('the index of docs/ lists every page', () => {
  const listed = links(readPage('docs/README.md')).map(({ file }) => `docs/${file}`);
  expect(DOCS.filter((page) => page !== 'docs/README.md' && !listed.includes(page))).toEqual([]);
});

test('the README fits 250 lines, and starts with a command to start and one to test', () => {
  const readme = readPage('README.md');
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(250);
  const [start, , call, own] = allBlocks(readme);
  expect(start).toMatchObject({ info: 'sh clone', text: 'npm ci && npm start\n' });
  expect(call?.text).toMatch(/^curl .* {2}# 200\n$/);
  expect(own).toMatchObject({ info: 'sh clone', text: 'npm ci && npm test\n' });
  expect(blocks(readme, 'sh clone')).toHaveLength(2);
  const { scripts } = JSON.parse(readPage('package.json'));
  // So that `npm ci` builds, and so does npm for a dependency that is a repository.
  expect(scripts.prepare).toBe('node scripts/prepare.mjs');
});

test('docs/every-reply.md gets each documented reply once', () => {
  const walk = section(readPage('docs/every-reply.md'), 'The 16 documented replies');
  const calls = stepsOf(walk).filter((step) => step.kind === 'run' && step.result !== undefined);
  const documented = OPERATION_IDS.flatMap((id) => {
    const { method, path, replies } = operationShape(id);
    return Object.keys(replies).map((status) => `${method} ${path} ${status}`);
  });
  expect(calls.map(replyOf)).toEqual(documented);
});

/** Method, path and status of a curl command, with the path as the document writes it. */
function replyOf(step: Step): string {
  const { command = '', result } = step.kind === 'run' ? step : {};
  const method = /-X ([A-Z]+)/.exec(command)?.[1] ?? 'GET';
  const { pathname } = new URL(/http:[^' ]+/.exec(command)?.[0] ?? '');
  const path = pathname.slice(BASE_PATH.length).replace(/(pets|inventory)\/\d+$/, '$1/{petId}');
  return `${method} ${path.replace(/orders\/\d+$/, 'orders/{orderId}')} ${result}`;
}

test('docs/control-api.md calls every endpoint, with one collection for all', () => {
  const lines = commands(stepsOf(readPage('docs/control-api.md'))).flatMap((it) =>
    it.split(/ & |; /),
  );
  const called = lines.flatMap((line) => {
    const [, path] = /http:\/\/127\.0\.0\.1:4010\/__mock\/([^'? ]+)/.exec(line) ?? [];
    return path === undefined ? [] : [`${/-X ([A-Z]+)/.exec(line)?.[1] ?? 'GET'} ${path}`];
  });
  const uncalled = ENDPOINTS.filter(({ path }) => !/^\/(?:animals|inventory)/.test(path)).filter(
    ({ method, path }) => {
      const pattern = `^${method.toUpperCase()} ${path.slice(1).replaceAll(/\{\w+\}/g, '[^/]+')}$`;
      return !called.some((call) => new RegExp(pattern).test(call));
    },
  );
  expect(uncalled.map(({ path }) => path)).toEqual([]);
});
