import type { Browser, BrowserContextOptions, Page } from '@playwright/test';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { REPORT_FORMATS } from '../../../src/cli/report/coverage-report.ts';
import { startServer } from '../../../src/index.ts';
import type { RunningServer } from '../../../src/server/server.ts';
import { axeViolations, describeInChromium, overflowOf } from '../../helpers/browser.ts';

const LONG = 'x'.repeat(400);

let server: RunningServer;
const renderPage = () =>
  REPORT_FORMATS['.html']?.({ coverage: server.coverage(), findings: server.findings() }, false) ??
  '';

beforeAll(async () => {
  server = await startServer({ port: 0 });
  const headers = { authorization: 'Bearer demo-key' };
  await fetch(`${server.url}/pets?${LONG}=1`, { headers });
  await fetch(`${server.url}/pets/1`, { headers });
  await fetch(`${server.url}/store/orders/3`, { method: 'DELETE', headers });
});
afterAll(() => server.close());

describeInChromium('in Chromium', (browser) => {
  describe('the coverage page', () => {
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

  test('a link on the coverage page goes to how to get the reply', async () => {
    const page = await open(browser(), renderPage());
    await page.getByRole('link', { name: 'how to get cancelOrder 409' }).click();
    expect(await page.locator(':target').textContent()).toMatch(/curl -i -X DELETE .*code=409/);
  });
});

async function open(
  browser: Browser,
  html: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const page = await browser.newPage(options);
  onTestFinished(() => page.close());
  await page.setContent(html);
  return page;
}
