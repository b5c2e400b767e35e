import type { Browser, Page } from '@playwright/test';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PetstoreMock, startPetstoreMock } from '../../../src/index.ts';
import { axeViolations, describeInChromium, openPage } from '../../helpers/browser.ts';

const BIG_ID = 9007199254740993n;

let mock: PetstoreMock;

beforeAll(async () => {
  mock = await startPetstoreMock();
});

afterAll(() => mock.stop());

/** A page with what its security policy refused. */
async function visit(browser: Browser, url: string) {
  const page = await openPage(browser);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  await page.goto(url);
  return { page, complaints };
}

/** Opens the form of an operation. */
async function openForm(page: Page, title: string, id: string) {
  await page.getByText(title, { exact: true }).click();
  const form = page.getByRole('form', { name: id });
  const send = async () => {
    await form.getByRole('button', { name: 'Send' }).click();
    await form.locator('.status').waitFor();
    return {
      status: await form.locator('.status').textContent(),
      body: (await form.getByRole('status').locator('pre').textContent()) ?? '',
    };
  };
  return { form, send };
}

describeInChromium('the API reference', (browser) => {
  test('tries an operation with the key filled in, and ids beyond 2^53 in a path and in a body', async () => {
    const sandbox = mock.sandbox('exact');
    await sandbox.animals.put(BIG_ID, { name: 'Rex', categoryId: 1 });
    const { page } = await visit(browser(), `${sandbox.controlUrl}/docs`);
    const read = await openForm(page, 'GET /pets/{petId}: Read one animal', 'getPet');
    await read.form.getByLabel('petId').fill(String(BIG_ID));
    expect((await read.send()).body).toContain(`"id": ${BIG_ID}`);
    expect(await sandbox.requests.list()).toMatchObject([
      { method: 'GET', target: `/~exact/v1/pets/${BIG_ID}`, status: 200, key: 'demo…' },
    ]);
    const create = await openForm(page, 'POST /pets: Add an animal', 'createPet');
    await create.form.getByLabel('Body').fill(`{ "name": "Rex", "categoryId": ${BIG_ID} }`);
    const { status, body } = await create.send();
    expect(status).toBe('201');
    expect(body).toContain(`"categoryId": ${BIG_ID}`);
    await create.form.getByText(/^Schemas/).click();
    await create.form.getByText('"categoryId": {').first().waitFor();
  });

  test('is accessible, and tries the control API of the same sandbox too', async () => {
    const sandbox = mock.sandbox('controlled');
    const { page, complaints } = await visit(browser(), `${sandbox.controlUrl}/docs`);
    await page.getByRole('link', { name: 'Control API' }).click();
    await page.getByRole('heading', { name: /Control API of petstore-mock/ }).waitFor();
    const { send } = await openForm(page, 'PATCH /orders/{id}: Update an order', 'patchOrder');
    expect((await send()).status).toBe('200');
    expect(await sandbox.orders.get(4)).toMatchObject({ status: 'shipped' });
    expect(complaints).toEqual([]);
    expect(await axeViolations(page)).toEqual([]);
  });
});
