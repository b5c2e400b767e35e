import type { Browser, BrowserContextOptions, Page } from '@playwright/test';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  type SweepResult,
  sweepReport,
  type VariantRun,
} from '../../src/cli/commands/sweep-report.ts';
import { coverageReport } from '../../src/report/coverage-report.ts';
import { renderHtml } from '../../src/report/html.ts';
import { type RunningServer, startServer } from '../../src/server.ts';
import { axeViolations, describeInChromium, overflowOf } from '../helpers/browser.ts';

const LONG = 'x'.repeat(400);

const PASSED: VariantRun = {
  assumption: 'assigned-ids',
  option: 'int64',
  verdict: 'passed',
  ending: { kind: 'exited', code: 0, exitCode: 0 },
  seconds: 1,
  lastLines: [],
  findings: [{ code: 'rounded-id', count: 2, example: `GET /v1/pets/${LONG}: 1 is unknown.` }],
};
const FAILED: VariantRun = {
  ...PASSED,
  assumption: 'cancelled-orders',
  option: 'removed',
  verdict: 'failed',
  ending: { kind: 'exited', code: 1, exitCode: 1 },
  lastLines: ['AssertionError: order 3 is missing', `    at ${LONG}`],
};
const SWEEP: SweepResult = {
  command: ['npm', 'test', LONG],
  baselineSeconds: 1,
  runs: [PASSED, { ...FAILED, verdict: 'allowed', option: 'listed' }, FAILED],
  untouched: ['cors', 'date-format'],
  decidedByScenario: ['json-charset'],
  notRun: [{ assumption: 'cancel-again', option: '404' }],
};

let server: RunningServer;
const pages: { [Name in 'coverage' | 'sweep']: () => string } = {
  coverage: () =>
    renderHtml(coverageReport({ coverage: server.coverage(), findings: server.findings() })),
  sweep: () => renderHtml(sweepReport(SWEEP)),
};

beforeAll(async () => {
  server = await startServer({ port: 0 });
  const headers = { authorization: 'Bearer demo-key' };
  await fetch(`${server.url}/pets?${LONG}=1`, { headers });
  await fetch(`${server.url}/pets/1`, { headers });
  await fetch(`${server.url}/store/orders/3`, { method: 'DELETE', headers });
});
afterAll(() => server.close());

describeInChromium('in Chromium', (browser) => {
  describe.each(['coverage', 'sweep'] as const)('the %s page', (name) => {
    test.each(['light', 'dark'] as const)(
      'has no axe-core violation in %s mode',
      async (scheme) => {
        const page = await open(browser(), pages[name](), { colorScheme: scheme });
        expect(await axeViolations(page)).toEqual([]);
      },
    );

    test('fits a screen of 320 pixels', async () => {
      const page = await open(browser(), pages[name](), { viewport: { width: 320, height: 640 } });
      expect(await overflowOf(page)).toBe(0);
    });
  });

  test('a link on the coverage page goes to how to get the reply', async () => {
    const page = await open(browser(), pages.coverage());
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
