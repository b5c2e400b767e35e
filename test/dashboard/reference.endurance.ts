import { createServer } from 'node:http';
import type { Browser, Locator, Page } from '@playwright/test';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createApp, type PetstoreMock, startPetstoreMock } from '../../src/index.ts';
import { axeViolations, describeInChromium } from '../helpers/browser.ts';
import { listen } from '../helpers/host.ts';

const BIG_ID = 9007199254740993n;

/** What Swagger UI's own markup breaks; its operations still work by keyboard. */
const OF_THE_COMPONENT = [
  'color-contrast',
  'heading-order',
  'nested-interactive',
  'region',
  'select-name',
];

let mock: PetstoreMock;
const pages: Page[] = [];

/** A page with what it asked of other servers, and what its security policy refused. */
async function openPage(browser: Browser, url: string) {
  const page = await browser.newPage();
  pages.push(page);
  const strays: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'data:' && origin !== new URL(url).origin) strays.push(request.url());
  });
  page.on('console', (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) complaints.push(message.text());
  });
  await page.goto(url);
  return { page, strays, complaints };
}

/** Opens an operation, ready to be tried. */
async function opened(page: Page, tag: string, id: string): Promise<Locator> {
  const operation = page.locator(`#operations-${tag}-${id}`);
  await operation.locator('.opblock-summary-control').click();
  await operation.locator('button.execute').waitFor();
  return operation;
}

/** Executes an operation, and returns the status and the body that it shows. */
async function executed(operation: Locator): Promise<{ status: string; body: string }> {
  await operation.locator('button.execute').click();
  const live = operation.locator('.live-responses-table');
  await live.waitFor();
  const status = await live.locator('tbody .response-col_status').first().textContent();
  const body = live.locator('.highlight-code pre').first();
  const shown = (await body.count()) > 0 ? await body.textContent() : '';
  return { status: status?.trim() ?? '', body: shown ?? '' };
}

beforeAll(async () => {
  mock = await startPetstoreMock();
});

afterAll(() => mock.stop());

afterEach(async () => {
  await Promise.all(pages.splice(0).map((page) => page.close()));
});

describeInChromium('the API reference', (browser) => {
  test('tries an operation with the key and the example filled in, and contacts no other server', async () => {
    const sandbox = mock.sandbox('reader');
    const { page, strays, complaints } = await openPage(browser(), `${sandbox.controlUrl}/docs`);
    const { status, body } = await executed(await opened(page, 'Animals', 'getPet'));
    expect({ status, body: JSON.parse(body) }).toMatchObject({
      status: '200',
      body: { id: 1, name: 'Rex' },
    });
    expect(await sandbox.requests.list()).toMatchObject([
      { method: 'GET', target: '/~reader/v1/pets/1', status: 200, key: 'demo…' },
    ]);
    expect({ strays, complaints }).toEqual({ strays: [], complaints: [] });
  });

  test('sends and shows an id beyond 2^53 exactly, in a path and in a body', async () => {
    const sandbox = mock.sandbox('exact');
    await sandbox.animals.put(BIG_ID, { name: 'Rex', categoryId: 1 });
    const { page } = await openPage(browser(), `${sandbox.controlUrl}/docs`);
    const read = await opened(page, 'Animals', 'getPet');
    await read.locator('tr[data-param-name="petId"] input').fill(String(BIG_ID));
    expect((await executed(read)).body).toContain(`"id": ${BIG_ID}`);
    const create = await opened(page, 'Animals', 'createPet');
    await create.locator('textarea').first().fill(`{ "name": "Rex", "categoryId": ${BIG_ID} }`);
    const { status, body } = await executed(create);
    expect(status).toBe('201');
    expect(body).toContain(`"categoryId": ${BIG_ID}`);
    const [, sent] = await sandbox.requests.list();
    expect(sent?.request.body).toEqual({ name: 'Rex', categoryId: BIG_ID });
  });

  test('has a page for the control API of the same sandbox', async () => {
    const sandbox = mock.sandbox('controlled');
    const { page, complaints } = await openPage(browser(), `${sandbox.controlUrl}/docs`);
    await page.getByRole('link', { name: 'Control API' }).click();
    await page.getByRole('heading', { name: /Control API of petstore-mock/ }).waitFor();
    const { status } = await executed(await opened(page, 'Records', 'patchOrder'));
    expect(status).toBe('200');
    expect(await sandbox.orders.get(4)).toMatchObject({ status: 'shipped' });
    expect(complaints).toEqual([]);
  });

  test.each(['light', 'dark'] as const)(
    'is accessible as far as its component is, when %s',
    async (colorScheme) => {
      const { page } = await openPage(browser(), 'about:blank');
      await page.emulateMedia({ colorScheme });
      await page.goto(`${mock.controlUrl}/docs`);
      await page.locator('.opblock').first().waitFor();
      const violations = (await axeViolations(page)).map((violation) => Object(violation).id);
      expect(violations.filter((id) => !OF_THE_COMPONENT.includes(id))).toEqual([]);
      const dark = await page.evaluate<boolean>(
        "document.documentElement.classList.contains('dark-mode')",
      );
      expect(dark).toBe(colorScheme === 'dark');
    },
  );

  test('asks for the control token if the control API requires it, and uses it for its calls', async () => {
    const server = createServer(createApp({ controlToken: 'secret' }));
    const origin = `http://127.0.0.1:${await listen(server)}`;
    const { page } = await openPage(browser(), `${origin}/__mock/docs?api=control`);
    await page.getByLabel('Token').fill('wrong');
    await page.getByRole('button', { name: 'Use this token' }).click();
    await page.getByText('The server refused this token.').waitFor();
    await page.getByLabel('Token').fill('secret');
    await page.getByRole('button', { name: 'Use this token' }).click();
    const { status } = await executed(await opened(page, 'Clock', 'getClock'));
    expect(status).toBe('200');
    server.closeAllConnections();
    server.close();
  });
});
