import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from '@playwright/test';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { writeReport } from '../../../src/features/dashboard/report.ts';
import { startServer } from '../../../src/index.ts';
import type { RunningServer } from '../../../src/server/server.ts';
import type { RanExchange } from '../../../src/terminal/command.ts';
import { axeViolations, describeInChromium, openPage, overflowOf } from '../../helpers/browser.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { runInProcess } from '../../helpers/invocation.ts';

const LONG = 'x'.repeat(400);

const folder = temporaryFolder();
let server: RunningServer;
const exchanges: RanExchange[] = [];
const fault = { what: 'listPets', change: 'reset', verdict: 'unnoticed', isBad: true, detail: 'x' };
const sweep = { title: 'Faults', rows: [fault] };
const renderPage = () =>
  writeReport({ coverage: server.coverage(), findings: server.findings(), exchanges, sweep });

beforeAll(async () => {
  server = await startServer({ port: 0 });
  server.sandboxes.events.add(({ sandbox, exchange }) => {
    exchanges.push({ sandbox: sandbox.name, exchange });
  });
  const headers = { authorization: 'Bearer demo-key' };
  await fetch(`${server.url}/pets?${LONG}=1`, { headers });
  await fetch(`${server.url}/pets/1`, { headers });
  await fetch(`${server.url}/store/orders/3`, { method: 'DELETE', headers });
});
afterAll(() => server.close());

describeInChromium('in Chromium', (browser) => {
  describe('the report', () => {
    test.each(['light', 'dark'] as const)(
      'has no axe-core violation in %s mode',
      async (scheme) => {
        const page = await open(browser(), renderPage(), { colorScheme: scheme });
        expect(await axeViolations(page)).toEqual([]);
      },
    );

    test('fits a screen of 320 pixels', async () => {
      const page = await open(browser(), renderPage(), { viewport: { width: 320, height: 640 } });
      expect(await overflowOf(page)).toBe(0);
    });
  });

  test('the report shows what was found, and how to get a reply that was never shown', async () => {
    const page = await open(browser(), renderPage());
    await page.getByText('of 16 documented replies').waitFor();
    await page.getByRole('region', { name: 'Findings' }).getByText('default #2').waitFor();
    await page.getByRole('link', { name: /^cancelOrder 409: documented shown 0 times/ }).click();
    await page.getByText(/curl -i -X DELETE .*code=409/).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText('Choose a reply in the table').waitFor();
    await page.getByRole('region', { name: 'Faults' }).getByText('unnoticed x').waitFor();
    await page.getByText('2. GET /v1/pets/1 → 200').click();
    await page.getByRole('region', { name: 'Body of reply 2' }).getByText('"Rex"').waitFor();
    expect(await axeViolations(page)).toEqual([]);
  });
});

describeInChromium('the HAR of a run in Chromium', (browser) => {
  test('answers the calls that it has, without the mock', async () => {
    const file = join(folder, 'run.har');
    const script = `
      const { PETSTORE_MOCK_URL: url, PETSTORE_MOCK_KEY: key } = process.env;
      const headers = { Authorization: 'Bearer ' + key };
      await fetch(url + '/pets/1', { headers });
      await fetch(url + '/store/orders/3', { method: 'DELETE', headers });`;
    const command = [process.execPath, '--input-type=module', '-e', script];
    expect((await runInProcess(['exec', '--har', file, '--', ...command])).code).toBe(0);
    const [first] = JSON.parse(readFileSync(file, 'utf8')).log.entries;
    const page = await openPage(browser());
    await page.routeFromHAR(file, { notFound: 'abort' });
    await page.goto(first.request.url);
    expect(await page.textContent('body')).toContain('"name":"Rex"');
    const call = (path: string) =>
      page.evaluate<string>(
        `fetch('${path}', { method: 'DELETE' }).then((it) => it.text(), ({ name }) => name)`,
      );
    expect(await call('/v1/store/orders/3')).toContain('order_already_cancelled');
    expect(await call('/v1/store/orders/4')).toBe('TypeError');
  });
});

async function open(
  browser: Browser,
  html: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const page = await openPage(browser, options);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  onTestFinished(() => expect(complaints).toEqual([]));
  const file = join(folder, 'report.html');
  writeFileSync(file, html);
  await page.goto(pathToFileURL(file).href);
  return page;
}
