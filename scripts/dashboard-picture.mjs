// Takes the screenshot of the dashboard in README.md; with a folder, pictures of every view at four
// widths, light and dark, to look at. Needs Chromium:
//
//   npm run build && node scripts/dashboard-picture.mjs [FOLDER [VIEW...]]

import { mkdirSync } from 'node:fs';
import { argv, env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { CHROMIUM_FLAGS } from './chromium.mjs';

/** What the client in the picture does. */
const CALLS = [
  ['GET', '/pets?limit=5'],
  ['GET', '/pets/999999'],
  ['POST', '/pets', '{"name":"Rex","categoryId":3}'],
  ['GET', '/store/orders'],
  ['PATCH', '/inventory/1', '{"quantity":12}'],
  ['DELETE', '/store/orders/1'],
  ['DELETE', '/store/orders/2'],
  ['GET', '/inventory'],
  ['DELETE', '/store/orders/1'],
];

/** Each view, by the name of its picture. */
const VIEWS = {
  exchanges: 'exchanges',
  exchange: 'exchanges/7',
  assumed: 'exchanges/9',
  compare: 'exchanges/9?with=6',
  request: 'exchanges/new?from=3',
  rule: 'exchanges/rule?from=7',
  scenarios: 'scenarios',
  scenario: 'scenarios/mine',
  store: 'store/animals',
  orders: 'store/orders',
  assumptions: 'assumptions',
  clock: 'clock',
  coverage: 'coverage/cancelOrder-409',
  sandboxes: 'sandboxes',
  reference: 'reference',
};

/** @type {[width: number, height: number][]} */
const SIZES = [
  [1440, 900],
  [360, 800],
  [820, 1100],
  [2560, 1300],
];

const [, , folder, ...names] = argv;
// Built, so not for the type checker.
const { startPetstoreMock } = await import(new URL('../dist/index.js', import.meta.url).href);
// An observer, as the log is one, makes the durations exact.
const mock = await startPetstoreMock({ port: 0, observe: () => {} });
const home = mock.url.replace(/\/v1$/, '/__mock/');
const browser = await chromium.launch({
  executablePath: env.CHROMIUM ?? '/usr/bin/chromium',
  args: CHROMIUM_FLAGS,
});

/**
 * @param {readonly string[]} call
 * @param {string} [base]
 */
async function send([method = 'GET', path, body], base = mock.url) {
  const headers = {
    Authorization: 'Bearer demo-key',
    ...(body && { 'Content-Type': 'application/json' }),
  };
  await fetch(base + path, { method, headers, body: body ?? null });
}

/** @param {string} folder */
async function takeAll(folder) {
  const text =
    '# Orders for the checkout tests.\ndescription: Orders that cannot be cancelled.\nrules:\n  - on: cancelOrder\n    where: { orderId: 1 }\n    reply: { status: 409 }\n  - on: listPets\n    calls: 1\n    reply: { status: 503 }\n  - on: "*"\n    delay: fast\n';
  await fetch(`${home}scenarios/mine`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/yaml' },
    body: text.replace('    delay: fast\n', '    delay: 40\n'),
  });
  await fetch(`${home}scenario`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: '{"scenarios":["sold-out"]}',
  });
  for (const name of ['ci-checkout', 'ci-orders']) {
    await send(['GET', '/pets'], `${home.replace('/__mock/', `/~${name}/v1`)}`);
  }
  mkdirSync(folder, { recursive: true });
  for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
    const page = await browser.newPage({ colorScheme });
    for (const [name, view] of Object.entries(VIEWS)) {
      if (names.length > 0 && !names.includes(name)) continue;
      for (const [width, height] of SIZES) {
        if (colorScheme === 'dark' && width !== 1440 && width !== 360) continue;
        await page.setViewportSize({ width, height });
        await page.goto(`${home}#/${view}`);
        await page.getByText('Loading…').waitFor({ state: 'detached' });
        await page.waitForTimeout(350);
        await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png` });
      }
    }
    await page.close();
  }
}

async function takeOne() {
  const page = await browser.newPage({
    viewport: { width: 1360, height: 720 },
    colorScheme: 'light',
  });
  await page.goto(`${home}#/exchanges/7`);
  await page.getByRole('heading', { level: 2 }).first().waitFor();
  const images = fileURLToPath(new URL('../docs/images', import.meta.url));
  mkdirSync(images, { recursive: true });
  await page.screenshot({ path: `${images}/dashboard.png` });
}

try {
  for (const call of CALLS) await send(call);
  await (folder === undefined ? takeOne() : takeAll(folder));
} finally {
  await browser.close();
  await mock.stop();
}
