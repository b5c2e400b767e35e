import { type Browser, chromium, type Page } from '@playwright/test';
import axe, { type AxeResults } from 'axe-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { CHROMIUM_FLAGS } from '../../scripts/chromium.mjs';
import { findProgram } from './program.ts';

const CHROMIUM = findProgram('chromium', 'chromium-browser', 'google-chrome');

/** Tests with the Chromium of this machine; skipped if it has none. */
export function describeInChromium(what: string, tests: (browser: () => Browser) => void): void {
  const name = CHROMIUM === undefined ? `${what} (skipped: no Chromium found)` : what;
  describe.skipIf(CHROMIUM === undefined)(name, () => {
    let browser: Browser | undefined;
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: CHROMIUM_FLAGS });
    });
    afterAll(() => browser?.close());
    tests(() => {
      if (browser === undefined) throw new Error('Chromium did not start.');
      return browser;
    });
  });
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
