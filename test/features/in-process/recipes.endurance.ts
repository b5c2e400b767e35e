import { readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { packageRoot } from '../../../src/server/files.ts';
import { CHROMIUM, describeInChromium, openPage } from '../../helpers/browser.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { runProgram } from '../../helpers/program.ts';
import { examplesProject } from '../../helpers/projects.ts';
import { toolFile } from '../../helpers/tools.ts';

const node = process.execPath;
const modules = (path: string) => join(packageRoot, 'node_modules', path);
const folder = examplesProject('vitest', '@playwright/test');
symlinkSync(toolFile('msw'), join(folder, 'node_modules/msw'), 'junction');
const cwd = join(folder, 'in-process');

describe('the example in process', () => {
  test.each([
    [
      'in vitest, in place of fetch',
      node,
      [modules('vitest/vitest.mjs'), 'run', 'orders'],
      /2 passed/,
    ],
    ['in a handler of MSW', node, ['--test', 'msw.test.js'], /pass 1\n/],
    ['in Node', node, ['runtime.js'], /^shipped 20\n/],
    [
      'in Deno',
      toolFile('deno/deno'),
      ['run', '--allow-all', '--no-prompt', 'runtime.js'],
      /^shipped 20\n/,
    ],
    ['in Bun', toolFile('bun/bin/bun.exe'), ['runtime.js'], /^shipped 20\n/],
  ])('answers %s', async (_where, program, args, expected) => {
    const { code, output } = await runProgram(program, args, { cwd });
    expect(output).toMatch(expected);
    expect(code).toBe(0);
  });
});

const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript' };

/** Any static host. */
async function serveFiles(root: string): Promise<string> {
  const server = createServer(({ url = '/' }, response) => {
    const file = new URL(url, 'http://host').pathname.replace(/\/$/, '/index.html');
    const type = TYPES[extname(file)];
    try {
      response.writeHead(200, type ? { 'Content-Type': type } : {});
      response.end(readFileSync(join(root, file)));
    } catch {
      response.end();
    }
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describeInChromium('the example in process', (browser) => {
  test('answers a page of Playwright without a port', async () => {
    const args = [modules('@playwright/test/cli.js'), 'test'];
    const env = { CHROMIUM: CHROMIUM ?? '' };
    const { code, output } = await runProgram(node, args, { cwd, env });
    expect(output).toMatch(/1 passed/);
    expect(code).toBe(0);
  });

  test('runs in a plain page', async () => {
    const page = await openPage(browser());
    await page.goto(`${await serveFiles(folder)}/in-process/page.html`);
    await expect.poll(() => page.textContent('p')).toBe('Too late');
  });

  test('runs in a service worker', async () => {
    const args = ['worker.js', '--format=iife', '--no-code-splitting', '--file=public/worker.js'];
    const rolldown = [modules('rolldown/bin/cli.mjs'), ...args];
    expect(await runProgram(node, rolldown, { cwd })).toMatchObject({ code: 0 });
    const page = await openPage(browser());
    await page.goto(`${await serveFiles(join(cwd, 'public'))}/`);
    await expect.poll(() => page.textContent('p')).toBe('Too late');
  });

  test('is a playground, below any path of a static host', async () => {
    const root = temporaryFolder();
    const build = [join(packageRoot, 'scripts/playground.mjs'), join(root, 'some/where')];
    expect(await runProgram(node, build)).toMatchObject({ code: 0 });
    const page = await openPage(browser());
    const origin = await serveFiles(root);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`${origin}/some/where/`);
    await page.getByRole('button', { name: 'Send this request' }).click();
    await expect.poll(() => page.textContent('body')).toContain('mock-basis: documented');
    await page.goto(`${origin}/some/where/#/scenarios`);
    await expect.poll(() => page.textContent('body')).toContain('outage');
    // Nothing but its files: the calls are answered in the page.
    expect(asked.filter((url) => !url.startsWith(`${origin}/some/where/`))).toEqual([]);
    expect(asked.filter((url) => url.includes('/v1/') || url.includes('__mock'))).toEqual([]);
  });
});
