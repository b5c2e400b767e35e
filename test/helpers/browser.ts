import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Download,
  type Page,
} from '@playwright/test';
import axe, { type AxeResults } from 'axe-core';
import { afterAll, beforeAll, describe, inject, onTestFinished } from 'vitest';

const CHROMIUM = inject('chromium');

/** Tests with the Chromium of this machine; skipped if it has none. */
export function describeInChromium(what: string, tests: (browser: () => Browser) => void): void {
  const name = CHROMIUM === '' ? `${what} (skipped: no Chromium found)` : what;
  describe.skipIf(CHROMIUM === '')(name, () => {
    let browser: Browser | undefined;
    beforeAll(async () => {
      browser = await chromium.connect(CHROMIUM);
    });
    afterAll(() => browser?.close());
    tests(() => {
      if (browser === undefined) throw new Error('Chromium did not start.');
      return browser;
    });
  });
}

/** A page that is closed when the test ends. */
export async function openPage(browser: Browser, options?: BrowserContextOptions): Promise<Page> {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(60_000);
  onTestFinished(() => page.close());
  return page;
}

/**
 * The rules that a page breaks according to axe-core, each with the elements that break it.
 *
 * @param rules the rules to check; by default all
 */
export async function axeViolations(page: Page, rules?: readonly string[]): Promise<object[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source);
  const options = JSON.stringify({ ...(rules && { runOnly: rules }) });
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${options})`);
  return violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map((it) => it.html) }));
}

/** What a page has saved. */
export async function textOf(download: Promise<Download>): Promise<string> {
  const chunks = await (await (await download).createReadStream()).toArray();
  return Buffer.concat(chunks).toString();
}

/** By how many pixels a page is wider than its window. */
export function overflowOf(page: Page): Promise<number> {
  const root = 'document.documentElement';
  return page.evaluate<number>(`${root}.scrollWidth - ${root}.clientWidth`);
}
