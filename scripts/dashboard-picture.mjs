// Takes the screenshot of the dashboard in README.md. Needs Chromium:
//
//   npm run build && node scripts/dashboard-picture.mjs

import { mkdirSync } from 'node:fs';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';

const folder = fileURLToPath(new URL('../docs/images', import.meta.url));
const SIZE = { width: 1360, height: 720 };

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
];

// Built, so not for the type checker.
const { startPetstoreMock } = await import(new URL('../dist/index.js', import.meta.url).href);
// An observer, as the log is one, makes the durations exact.
const mock = await startPetstoreMock({
  port: 0,
  clock: Date.parse('2026-06-01T09:30:00Z'),
  observe: () => {},
});
const browser = await chromium.launch({
  executablePath: env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  for (const [method = 'GET', path, body = null] of CALLS) {
    const headers = {
      Authorization: 'Bearer demo-key',
      ...(body && { 'Content-Type': 'application/json' }),
    };
    await fetch(mock.url + path, { method, headers, body });
  }
  const page = await browser.newPage({ viewport: SIZE, colorScheme: 'light' });
  await page.goto(`${mock.url.replace(/\/v1$/, '/__mock/')}#/exchanges/7`);
  await page.getByRole('heading', { name: 'Exchange 7' }).waitFor();
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/dashboard.png` });
} finally {
  await browser.close();
  await mock.stop();
}
