import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { expect, onTestFinished, test } from 'vitest';
import { describeDashboard } from '../helpers/dashboard.ts';

const exchange = (page: Page, number: number) =>
  page.getByRole('link', { name: `Exchange ${number}`, exact: true });

const opened = (page: Page, number: number) =>
  page.getByRole('heading', { name: `Exchange ${number}`, exact: true });

/** What a tester does with the calls of a client; each test has its own sandbox. */
describeDashboard('a tester', (open, browser) => {
  test('sees a call fail as it happens, and why', async () => {
    const { page, service } = await open();
    await page.getByText('No exchanges yet').waitFor();
    await service('DELETE', '/store/orders/2', { headers: { 'X-Trace': 'one' } });
    await exchange(page, 1).click();
    const detail = page.getByRole('article');
    await detail.getByText('order 2 has shipped', { exact: true }).waitFor();
    const text = await detail.textContent();
    for (const part of [
      ...['409', 'documented', 'cancelOrder', 'Bearer demo…', 'order_already_shipped'],
      'application/json', // of the reply, a header that the mock itself sends
    ]) {
      expect(text).toContain(part);
    }
    await page.evaluate('navigator.clipboard.writeText = async (text) => { copied = text; }');
    const copied = async (what: string) => {
      await detail.getByRole('button', { name: what }).click();
      await page.getByText('Copied.').waitFor();
      return page.evaluate<string>('copied');
    };
    expect(await copied('Copy as curl')).toContain(
      "-X DELETE -H 'Authorization: Bearer demo-key' -H 'x-trace: one' http",
    );
    expect(await copied('Copy link')).toBe(page.url());
  });

  test('sends a request from the start, edits it, and compares both replies', async () => {
    const { page, press, service } = await open();
    await press('Send this request');
    await opened(page, 1).waitFor();
    await press('Edit and send');
    await page.getByLabel('Method').selectOption('POST');
    expect(await page.getByLabel('Path').getAttribute('title')).toBe('A path begins with a slash.');
    await page
      .getByLabel('Path')
      .fill((await page.getByLabel('Path').inputValue()).split('?')[0] ?? '');
    await page.getByLabel('Other headers').fill('Content-Type: application/json');
    await page
      .getByLabel('Body', { exact: true })
      .fill('{"name":"Rex","categoryId":9007199254740993}');
    await press('Send');
    await opened(page, 2).waitFor();
    await page
      .getByText('Differs from exchange 1 in: request line, request body, status, reply body.')
      .waitFor();
    expect((await service('GET', '/pets/65')).text).toContain('9007199254740993');
    await press('Unpin');
    await press('Send again');
    await opened(page, 4).waitFor();
    await page.getByText('Differs from exchange 2 in: reply body.').waitFor();
    expect(await page.locator('article').first().locator('mark').textContent()).toContain('66');
  });

  test('sends a call again whose connection broke', async () => {
    const { page, press, service, control } = await open();
    const rules = [{ on: 'getPet', fault: 'reset' }];
    await control('PUT', '/scenario', { body: { scenario: { rules } } });
    await expect(service('GET', '/pets/7')).rejects.toThrow();
    await exchange(page, 1).click();
    await press('Send again');
    await page.getByText('Same request and same reply as exchange 1.').waitFor();
  });

  test('asks for a key that the journal does not have, and sends no other in its place', async () => {
    const { page, service, press } = await open();
    await service('GET', '/pets');
    await service('GET', '/pets', { headers: { Authorization: 'Bearer lost-key' } });
    await exchange(page, 2).click();
    await press('Send again');
    const key = page.getByLabel('API key');
    expect(await key.inputValue()).toBe('');
    await press('Send');
    expect(await page.locator('input:invalid').getAttribute('name')).toBe('key');
    await key.fill('demo-key');
    await press('Send');
    await opened(page, 3).waitFor();
    await page.getByText('Differs from exchange 2 in: key, status, reply body.').waitFor();
  });

  test('filters exchanges, and lets the list stay put', async () => {
    const { page, service, press, button } = await open('exchanges?status=404');
    const shown = () => page.getByRole('link', { name: /^Exchange \d/ }).count();
    await service('GET', '/pets/1');
    await service('GET', '/pets/999');
    await exchange(page, 2).waitFor();
    expect(await shown()).toBe(1);
    await press('Pause');
    await service('GET', '/pets/998');
    await press('Show 1 new');
    await exchange(page, 3).waitFor();
    await press('Resume');
    await page.getByLabel('Search').fill('998');
    await exchange(page, 2).waitFor({ state: 'detached' });
    expect(page.url()).toContain('#/exchanges?status=404&text=998');
    await page.goto(page.url().replace(/\?.*$/, ''));
    await press('unmatched');
    await page.getByText('No exchanges match these filters.').waitFor();
    await service('GET', '/nowhere');
    await exchange(page, 4).click();
    await service('GET', '/nowhere');
    await button('Show 1 new').waitFor();
    expect(await shown()).toBe(1);
  });

  test('has all of the latest exchanges after a flood, which does not hold its keys up', async () => {
    const { page, service } = await open();
    await page.getByText('No exchanges yet').waitFor();
    const search = page.getByLabel('Search');
    await search.focus();
    await page.evaluate(`addEventListener('keydown', (event) => {
      requestAnimationFrame(() => requestAnimationFrame(() => {
        window.longest = Math.max(window.longest ?? 0, performance.now() - event.timeStamp);
      }));
    })`);
    let typing = true;
    const typed = (async () => {
      while (typing) await page.keyboard.press('ArrowLeft');
    })();
    for (let sent = 0; sent < 1_000; sent += 100) {
      await Promise.all(Array.from({ length: 100 }, () => service('GET', '/inventory')));
    }
    typing = false;
    await typed;
    expect(await page.evaluate<number>('window.longest')).toBeLessThan(1_000);
    await exchange(page, 1_000).waitFor();
    await page.getByText('1,000 exchanges').waitFor();
    await expect
      .poll(() => page.getByRole('link', { name: /^Exchange (?:9[5-9]\d|1000)$/ }).count())
      .toBe(50);
  });

  test('reads the journal again when the server disconnects it for reading too slowly', async () => {
    const { page, service, control } = await open();
    await page.getByText('No exchanges yet').waitFor();
    const rules = [{ on: 'listInventory', reply: { status: 200, body: 'x'.repeat(4_000) } }];
    await control('PUT', '/scenario', { body: { scenario: { rules } } });
    const opening = page.waitForEvent('dialog');
    void page.evaluate('setTimeout(alert)');
    const dialog = await opening; // the page reads nothing while it is open
    for (let sent = 0; sent < 3_000; sent += 100) {
      const target = `/inventory?${'y'.repeat(2_000)}`;
      await Promise.all(Array.from({ length: 100 }, () => service('GET', target)));
    }
    const again = page.waitForRequest((request) => request.url().includes('/requests/stream'));
    await dialog.accept();
    await again;
    await service('GET', '/pets/1');
    await exchange(page, 3_001).waitFor();
    const shown = await page.getByRole('link', { name: /^Exchange \d/ }).allTextContents();
    expect(shown).toEqual(Array.from({ length: 50 }, (_, index) => String(3_001 - index)));
  });

  test('walks through the whole journal by page and by arrow key', async () => {
    const { page, service, press } = await open();
    for (let id = 1; id <= 60; id += 1) {
      await service('GET', id % 2 ? '/inventory' : '/store/orders');
      await service('GET', '/pets/999');
    }
    await page.reload();
    await exchange(page, 120).waitFor();
    await press('Older');
    await exchange(page, 70).waitFor();
    await exchange(page, 71).waitFor({ state: 'detached' });
    await press('Older');
    await exchange(page, 1).waitFor();
    await exchange(page, 20).click();
    await opened(page, 20).waitFor();
    // Each press counts, also while the next page loads.
    const pressTwice = (key: string) =>
      page.evaluate(`for (const _ of 'ab') {
        document.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}' }));
      }`);
    await pressTwice('ArrowUp');
    await opened(page, 22).waitFor();
    await exchange(page, 22).waitFor();
    await pressTwice('ArrowDown');
    await opened(page, 20).waitFor();
    await exchange(page, 20).waitFor();
    await page.keyboard.press('ArrowDown');
    await opened(page, 19).waitFor();
    await page.goto(`${page.url().split('#')[0]}#/exchanges/3?status=404`);
    await opened(page, 3).waitFor();
  });

  test('sees that a reply waits, and releases it', async () => {
    const { page, press, service, control } = await open();
    await page.getByText('No exchanges yet').waitFor();
    const rules = [{ on: 'listPets', hold: true, reply: { status: 503 } }];
    await control('PUT', '/scenario', { body: { scenario: { rules } } });
    const waiting = service('GET', '/pets');
    await page.getByRole('link', { name: '1 reply waits' }).click();
    await press('Release exchange 1');
    expect((await waiting).status).toBe(503);
    await page.getByRole('link', { name: '1 reply waits' }).waitFor({ state: 'detached' });
    await page.goto(`${page.url().split('#')[0]}#/exchanges/1`);
    await opened(page, 1).waitFor();
    await page.getByRole('button', { name: 'Release exchange 1' }).waitFor({ state: 'detached' });
  });

  test('exports what the filter shows as HAR', async () => {
    const { page, service, press } = await open('exchanges?statusClass=4xx');
    await service('GET', '/pets/1');
    await service('GET', '/pets/999');
    await exchange(page, 2).waitFor();
    const saved = page.waitForEvent('download');
    await press('Export HAR');
    const { log } = JSON.parse(await readFile((await (await saved).path()) ?? '', 'utf8'));
    expect(log.version).toBe('1.2');
    expect(log.entries.map((it: { response: { status: number } }) => it.response.status)).toEqual([
      404,
    ]);
  });

  test('sees in the title how many calls came while the page was hidden', async () => {
    const { page, service } = await open();
    await page.getByText('No exchanges yet').waitFor();
    const hide = (hidden: boolean) =>
      page.evaluate(`
        Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} });
        document.dispatchEvent(new Event('visibilitychange'));
      `);
    await hide(true);
    await service('GET', '/pets/1');
    await service('GET', '/pets/2');
    await expect.poll(() => page.title()).toMatch(/^\(2\) Exchanges · /);
    await hide(false);
    await expect.poll(() => page.title()).toMatch(/^Exchanges · /);
  });

  test('follows a link to an exchange of a sandbox', async () => {
    const { page, service } = await open();
    await service('GET', '/pets/1');
    await service('GET', '/pets/2');
    const { href } = new URL(page.url());
    const link = `${href.split('#', 1)[0]}#/exchanges/1`;
    const other = await browser().newPage();
    onTestFinished(() => other.close());
    await other.goto(link);
    await other.getByRole('heading', { name: 'Exchange 1' }).waitFor();
    expect(await other.getByRole('article').textContent()).toContain('/v1/pets/1');
    await other.getByRole('button', { name: 'Close' }).click();
    await other.getByRole('link', { name: 'Exchange 2' }).waitFor();
    await other.goto(`${href.split('#', 1)[0]}#/exchanges/77`);
    await other.getByText(/^There is no exchange "?77"?; exchanges 1 to 2 are left/).waitFor();
  });
});
