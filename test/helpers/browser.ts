import { type Browser, type BrowserContextOptions, chromium, type Page } from '@playwright/test';
import axe, { type AxeResults } from 'axe-core';
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest';
import { CHROMIUM_FLAGS } from '../../scripts/chromium.mjs';
import { findProgram } from './program.ts';

export const CHROMIUM = findProgram(
  ...['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'],
);

/** Tests with the Chromium of this machine; skipped if it has none. */
export function describeInChromium(what: string, tests: (browser: () => Browser) => void): void {
  const name = CHROMIUM === undefined ? `${what} (skipped: no Chromium found)` : what;
  describe.skipIf(CHROMIUM === undefined)(name, () => {
    let browser: Browser | undefined;
    beforeAll(async () => {
      const executablePath = CHROMIUM ?? '';
      // The time of the hook ends what hangs.
      browser = await chromium.launch({ executablePath, args: CHROMIUM_FLAGS, timeout: 0 });
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

/** By how many pixels a page is wider than its window. */
export function overflowOf(page: Page): Promise<number> {
  const root = 'document.documentElement';
  return page.evaluate<number>(`${root}.scrollWidth - ${root}.clientWidth`);
}
