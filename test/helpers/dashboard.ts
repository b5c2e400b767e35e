import type { Browser, BrowserContextOptions } from '@playwright/test';
import { afterAll, beforeAll } from 'vitest';
import { startServer } from '../../src/index.ts';
import type { RunningServer } from '../../src/server/server.ts';
import { describeInChromium, openPage } from './browser.ts';
import { asker } from './wire.ts';

/** A dashboard in a page, and the server side of its sandbox. */
export type Opened = Awaited<ReturnType<typeof openDashboard>>;

let sandboxes = 0;

/** Tests that share a server, each with a dashboard of its own; skipped without Chromium. */
export function describeDashboard(
  what: string,
  tests: (open: (view?: string) => Promise<Opened>, browser: () => Browser) => void,
): void {
  describeInChromium(what, (browser) => {
    let server: RunningServer;
    beforeAll(async () => {
      server = await startServer({ port: 0 });
    });
    afterAll(() => server.close());
    tests((view) => openDashboard(browser(), server, view), browser);
  });
}

/**
 * Opens a view of the dashboard in a new sandbox, so that tests can share a server.
 *
 * @param view what follows `#/` in the address
 */
export async function openDashboard(
  browser: Browser,
  { url }: Pick<RunningServer, 'url'>,
  view = '',
  options: BrowserContextOptions = {},
) {
  sandboxes += 1;
  const { origin, port } = new URL(url);
  const base = `/~test-${sandboxes}`;
  const page = await openPage(browser, { viewport: { width: 1280, height: 800 }, ...options });
  /** What the page did that its policy forbids, and errors in its scripts. */
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  await page.goto(`${origin}${base}/__mock/#/${view}`);
  /** A button by its name. */
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  return {
    page,
    service: asker(Number(port), `${base}/v1`),
    control: asker(Number(port), `${base}/__mock`),
    press: (name: string) => button(name).click(),
    button,
    complaints,
  };
}
