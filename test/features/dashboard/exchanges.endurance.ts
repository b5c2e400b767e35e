import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { expect, onTestFinished, test } from 'vitest';
import { describeDashboard } from '../../helpers/dashboard.ts';

const exchange = (page: Page, number: number) =>
  page.getByRole('link', { name: `Exchange ${number}`, exact: true });

const opened = (page: Page, number: number) =>
  page.getByRole('heading', { name: `Exchange ${number}`, exact: true });

/** What a tester does with the calls of a client; each test has its own sandbox. */
describeDashboard('a tester', (open) => {
  test('sees a call fail as it happens, and why', async () => {
    const { page, service } = await open();
    await page.getByText('No exchanges yet').waitFor();
    await service('DELETE', '/store/orders/2', { headers: { 'X-Trace': 'one' } });
    await service('GET', '/pets/1', { headers: { Prefer: 'code=204' } });
    await page.getByText('not by the document', { exact: true }).waitFor();
    await exchange(page, 1).click();
    const detail = page.getByRole('article');
    await detail.getByText('order 2 has shipped', { exact: true }).first().waitFor();
    const text = await detail.textContent();
    for (const part of [
      ...['409', 'documented', 'cancelOrder', 'Bearer demo…', 'order_already_shipped'],
      'application/json', // of the reply, a header that the mock itself sends
    ]) {
      expect(text).toContain(part);
    }
    await page.evaluate('navigator.clipboard.writeText = async (text) => { copied = text; }');
    await detail.getByText('As code').click();
    await detail.getByRole('button', { name: 'Copy the code' }).click();
    await page.getByText('Copied.').waitFor();
    expect(await page.evaluate<string>('copied')).toContain(
      "-X DELETE -H 'Authorization: Bearer demo-key' -H 'x-trace: one' http",
    );
  });

  test('sends a request from the start, edits it, and compares both replies', async () => {
    const { page, press, service } = await open();
    await press('Send this request');
    await opened(page, 1).waitFor();
    await press('More');
    await press('Edit and send');
    await page.getByLabel('Method').selectOption('POST');
    expect(await page.getByLabel('Path').getAttribute('title')).toBe('A path begins with a slash.');
    await page
      .getByLabel('Path')
      .fill((await page.getByLabel('Path').inputValue()).split('?')[0] ?? '');
    await page.getByLabel('Other headers').fill('Content-Type=application/json');
    await press('Send');
    await page.getByRole('alert').getByText('Enter one “name: value” a line.').waitFor();
    await page.getByLabel('Other headers').fill('Content-Type: application/json');
    await page
      .getByLabel('Body', { exact: true })
      .fill('{"name":"Rex","categoryId":9007199254740993}');
    await press('Send');
    await opened(page, 2).waitFor();
    await page.getByText('Differs from exchange 1.').waitFor();
    const added = page.locator('article').first().locator('ins');
    for (const text of ['POST /', '"name": "Rex"', '→ 201', '"id": 65']) {
      await added.filter({ hasText: text }).first().waitFor();
    }
    expect((await service('GET', '/pets/65')).text).toContain('9007199254740993');
    await press('Unpin');
    await press('Send again');
    await opened(page, 4).waitFor();
    await press('Compare with exchange 2');
    await page.getByText('Differs from exchange 2.').waitFor();
    expect(await added.allTextContents()).toEqual([expect.stringContaining('66')]);
    // It was asked for here: no other one that is opened is compared.
    await press('Newer');
    await page.getByText('There is no newer exchange.').waitFor();
    await press('Older');
    await opened(page, 3).waitFor();
    expect(await page.getByText('Differs from').count()).toBe(0);
    await press('More');
    await press('Pin to compare');
    await press('Older');
    await page.getByText('Differs from exchange 3').waitFor();
  });

  test('sends a call again with the key that only the server knows', async () => {
    const { page, service, control, press } = await open();
    await control('PUT', '/scenario', {
      body: { scenario: { keys: { valid: ['lost-key'], invalid: [] } } },
    });
    await service('GET', '/pets/1', { headers: { Authorization: 'Bearer lost-key' } });
    await exchange(page, 1).click();
    // Another client calls the same at the same time: nobody's call is taken for one's own.
    const others = Array.from({ length: 20 }, () => service('GET', '/pets/1'));
    await press('Send again');
    await press('Compare with exchange 1');
    await page.getByText('Same request and same reply as exchange 1.').waitFor();
    await Promise.all(others);
    const number = /exchanges\/(\d+)/.exec(page.url())?.[1];
    expect((await control('GET', `/requests/${number}`)).json).toMatchObject({ replays: 1 });
    // A connection that broke is no reply either.
    const rules = [{ on: 'getPet', fault: 'reset' }];
    await control('PUT', '/scenario', { body: { scenario: { rules } } });
    await press('Send again');
    await press(`Compare with exchange ${number}`);
    await page.getByText('Differs from exchange').waitFor();
    await page.getByRole('article').first().getByText('reset').first().waitFor();
  });

  test('finds by words and fields, is told what a mistyped one should be, and exports the rest', async () => {
    const { page, service, press } = await open();
    await service('GET', '/pets/1', { headers: { 'X-Trace': 'abc' } });
    await service('DELETE', '/store/orders/2');
    await exchange(page, 2).waitFor();
    const search = page.getByLabel('Search', { exact: true });
    await search.fill('metod:GET');
    await page.getByText(/^Search: .*\(did you mean method\?\)/).waitFor();
    expect(await search.getAttribute('aria-invalid')).toBe('true');
    await exchange(page, 2).waitFor();
    const problem = (await page.getByText(/^Search: /).textContent()) ?? '';
    await press('What you can type');
    const help = page.locator('#search-words');
    const named = /a field \(([^)]*)\)/.exec(problem)?.[1]?.match(/[a-z]+/g) ?? [];
    const shown = (await help.locator('code').allTextContents()).map((it) => it.split(':')[0]);
    expect(new Set(shown.slice(0, -3))).toEqual(new Set(named.filter((it) => it !== 'or')));
    await page.keyboard.press('Escape');
    await search.fill('path:ORDERS');
    await exchange(page, 1).waitFor({ state: 'detached' });
    await search.fill('');
    await press('with findings');
    await page.getByRole('row', { name: /Exchange 1 .*1 finding/ }).waitFor();
    await search.fill('header:x-trace=ab -method:DELETE');
    await exchange(page, 2).waitFor({ state: 'detached' });
    await exchange(page, 1).waitFor();
    await search.fill('order');
    await press('4xx');
    expect(await search.inputValue()).toBe('order status:4xx');
    await page.getByText('1 match', { exact: true }).waitFor();
    const saved = page.waitForEvent('download');
    await press('More about the list');
    await press('Export HAR');
    const { log } = JSON.parse(await readFile((await (await saved).path()) ?? '', 'utf8'));
    expect(log).toMatchObject({ version: '1.2', entries: [{ response: { status: 409 } }] });
    await press('failed');
    expect(await search.inputValue()).toBe('order -status:2xx');
    await page.getByText('1 match', { exact: true }).waitFor();
    await press('2xx');
    expect(await search.inputValue()).toBe('order status:2xx');
    await page.getByText('No exchanges match').waitFor();
    await page.reload();
    expect(await search.inputValue()).toBe('order status:2xx');
  });

  test('learns why two equal calls differ, and what the real service might say', async () => {
    const { page, service, control, press } = await open();
    await service('DELETE', '/store/orders/1');
    await control('POST', '/clock/advance', { body: { by: 'P30D' } });
    await service('DELETE', '/store/orders/1');
    await exchange(page, 2).waitFor();
    await page.getByText('moved the clock by +30 days, by the control API').first().waitFor();
    // An age is real time; under a moved clock, there is its date.
    const date = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 7);
    const ages = await page.locator('tr:not(.note) time').allTextContents();
    expect(ages).toEqual([expect.stringContaining(date), expect.stringMatching(/^now$|^\d+ s$/)]);
    await exchange(page, 2).click();
    const detail = page.getByRole('article');
    await detail.getByText('order 1 is already cancelled', { exact: true }).first().waitFor();
    // What the call named, although it changed nothing.
    await detail.getByText('Store before and after').click();
    await detail.getByText('order 1 unchanged').waitFor();
    await detail.getByText('"status": "cancelled"').waitFor();
    await press('204 cancel-again=204');
    await detail.locator('ins', { hasText: 'No body.' }).waitFor();
    await press('Use this cancel-again=204');
    await page.getByText('cancel-again is 204.').waitFor();
    expect((await service('DELETE', '/store/orders/1')).status).toBe(204);
    await detail.getByRole('link', { name: 'in use' }).waitFor();
    await press('Take it back cancel-again=204');
    await page.getByText('cancel-again is 409.').waitFor();
    await press('Use this cancel-again=204');
    await page.getByText('cancel-again is 204.').waitFor();
    await press('Close');
    await press('1 new, 3 changes'); // they waited while the list had the focus
    await press('Undo assumed cancel-again=204');
    await page.getByText('Undone: assumed cancel-again=204.').waitFor();
    expect((await service('DELETE', '/store/orders/1')).status).toBe(409);
    await exchange(page, 1).click();
    await detail.getByText('Store before and after').click();
    await detail.locator('ins', { hasText: '"status": "cancelled"' }).waitFor();
    await press('Rewind to before call 1');
    await page.getByText(/The sandbox is as before call 1\./).waitFor();
    expect((await control('GET', '/orders/1')).json).toMatchObject({ status: 'pending' });
    await press('Undo');
    await page.getByText('Undone: rewound to before call 1.').waitFor();
    expect((await control('GET', '/orders/1')).json).toMatchObject({ status: 'cancelled' });
  });

  test('is told what a rewind takes back, takes it back, and sends the calls again', async () => {
    const { page, service, control, press } = await open();
    const statusOf = async () => Object((await control('GET', '/status')).json);
    await service('DELETE', '/store/orders/1');
    await service('GET', '/pets/1');
    await control('PUT', '/scenario', { body: { scenarios: ['invalid-keys'] } });
    await control('PATCH', '/assumptions', { body: { 'pets-order': 'newest' } });
    await control('PUT', '/clock', { body: { now: '2030-01-01T00:00:00Z', frozen: true } });
    const before = await statusOf();
    await exchange(page, 1).click();
    await page.getByRole('article').getByText('Store before and after').click();
    const told =
      /takes back .* calls changed, and these changes: “.*invalid-keys.*”, “assumed pets-order=newest”, “.*clock.*”/;
    await page.getByText(told).waitFor();
    await press('Rewind to before call 1');
    await page
      .getByText(/as before call 1\. Taken back: .*invalid-keys.*Records changed: 1 in orders/)
      .waitFor();
    expect(await statusOf()).toMatchObject({
      scenarios: [],
      assumptions: [],
      clock: { real: true },
    });
    await page.getByText('Replaying starts from the store as it is now').waitFor();
    await press('Replay this and the later ones');
    await page.getByText('Sent 2 calls again, from exchange 1, on the present store.').waitFor();
    expect((await control('GET', '/orders/1')).json).toMatchObject({ status: 'cancelled' });
    expect((await control('GET', '/requests/4')).json).toMatchObject({ replays: 2, status: 200 });
    await page.getByRole('link', { name: 'Show them' }).click();
    await exchange(page, 4).waitFor();
    await page.getByText('2 matches').waitFor();
    // Another view takes no Undo away, nor does time.
    await page.getByRole('link', { name: 'Store', exact: true }).click();
    await press('Undo');
    await page.getByText('Took back what exchanges 3 to 4 changed.').waitFor();
    expect((await control('GET', '/orders/1')).json).toMatchObject({ status: 'pending' });
    await press('Undo');
    await page.getByText('Undone: rewound to before call 3.').waitFor();
    expect((await control('GET', '/orders/1')).json).toMatchObject({ status: 'cancelled' });
    await page.getByRole('link', { name: 'Exchanges' }).click();
    // What it would take along is said before.
    await press('Undo rewound to before call 1');
    await page.getByText('and with it what 1 later call changed.').waitFor();
    await press('Cancel');
    expect((await control('GET', '/requests?edits=true&limit=0')).json).toMatchObject({
      edits: expect.arrayContaining([
        expect.objectContaining({ what: 'rewound to before call 1', isUndone: false }),
      ]),
    });
    await press('Undo rewound to before call 1');
    await press('Yes, undo');
    await page.getByText('Undone: rewound to before call 1.').waitFor();
    const { latestExchange: _, keptExchanges: _kept, ...after } = await statusOf();
    expect(before).toMatchObject(after);
  });

  test('closes with Escape whichever exchange was opened last, and goes to its row', async () => {
    const { page, service } = await open();
    await service('GET', '/pets/1');
    await service('GET', '/pets/2');
    // A row that comes while the pointer is over the list would wait.
    await exchange(page, 2).waitFor();
    await exchange(page, 1).click();
    await opened(page, 1).waitFor();
    await exchange(page, 2).click();
    await opened(page, 2).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('a[aria-label="Exchange 2"]:focus').waitFor();
    expect(await page.getByRole('article').count()).toBe(0);
  });

  test('filters exchanges, and lets the list stay put', async () => {
    const { page, service, press } = await open('exchanges?search=status:404');
    const shown = () => page.getByRole('link', { name: /^Exchange \d/ }).count();
    await service('GET', '/pets/1');
    await service('GET', '/pets/999');
    await exchange(page, 2).waitFor();
    expect(await shown()).toBe(1);
    await exchange(page, 2).focus();
    await service('GET', '/pets/998');
    await press('1 new');
    await exchange(page, 3).waitFor();
    await page.getByLabel('Search', { exact: true }).fill('status:404 998');
    await exchange(page, 2).waitFor({ state: 'detached' });
    expect(page.url()).toContain('#/exchanges?search=status%3A404+998');
    await page.goto(page.url().replace(/\?.*$/, ''));
    await page.getByLabel('Search', { exact: true }).fill('is:unmatched');
    await page.getByText('No exchanges match these filters.').waitFor();
    await service('GET', '/nowhere');
    await exchange(page, 4).click();
    await opened(page, 4).waitFor();
    // What is read stays where it is.
    await service('GET', '/nowhere');
    await press('1 new');
    await exchange(page, 5).waitFor();
  });

  test('lists calls that come while it has no stream, in a filtered list too', async () => {
    const { page, service } = await open('exchanges?search=status:404');
    await page.route(/requests\/stream/, () => undefined); // never answered
    await page.reload();
    await page.getByText('No exchanges match these filters.').waitFor();
    await service('GET', '/pets/999');
    await exchange(page, 1).waitFor();
  });

  test('keeps its rows for a pointer that comes back before the newer ones are read', async () => {
    const { page, service, button } = await open();
    await service('GET', '/pets/1');
    await exchange(page, 1).hover();
    await service('GET', '/pets/2');
    await button('1 new').waitFor();
    const latest = /requests\?.*limit=50/;
    const asked = page.waitForRequest(latest);
    let answer = (): void => undefined;
    const isBack = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route(latest, (route) => isBack.then(() => route.continue()));
    await page.mouse.move(0, 0);
    await asked;
    await exchange(page, 1).hover();
    const read = page.waitForResponse(latest);
    const later = /requests\?.*limit=0/;
    let answerLater = (): void => undefined;
    const isShown = new Promise<void>((resolve) => {
      answerLater = resolve;
    });
    await page.route(later, (route) => isShown.then(() => route.continue()));
    const askedLater = page.waitForRequest(later);
    answer();
    await read;
    await service('GET', '/pets/3');
    await askedLater;
    expect(await page.getByRole('link', { name: /^Exchange \d/ }).count()).toBe(1);
    await page.mouse.move(0, 0);
    await page.evaluate('location.hash = "#/exchanges?search="'); // which draws anew
    await exchange(page, 2).hover();
    // What was read for rows that are shown no more brings none of them back.
    const readLater = page.waitForResponse(later);
    answerLater();
    await readLater;
    await button('1 new').waitFor();
    expect(await page.getByRole('link', { name: /^Exchange \d/ }).count()).toBe(2);
    await page.mouse.move(0, 0);
    await exchange(page, 3).waitFor();
  });

  test('opens the row that was pressed, however many calls come meanwhile', async () => {
    const { page, service } = await open();
    await service('GET', '/pets/1');
    await exchange(page, 1).waitFor();
    let isSending = true;
    const sending = (async () => {
      while (isSending) await Promise.all([1, 2, 3, 4, 5].map(() => service('GET', '/inventory')));
    })();
    onTestFinished(() => {
      isSending = false;
      return sending;
    });
    const rows = page.getByRole('link', { name: /^Exchange \d/ });
    for (let round = 0; round < 5; round += 1) {
      await page.mouse.move(0, 0);
      await expect.poll(() => rows.count()).toBeGreaterThan(3);
      const { x = 0, y = 0 } = (await page.locator('tbody').boundingBox()) ?? {};
      await page.mouse.move(x + 200, y + 70);
      const pointed = await page.evaluate<string>(
        `document.elementFromPoint(${x + 200}, ${y + 70}).getAttribute('aria-label')`,
      );
      await page.mouse.down();
      await page.getByRole('button', { name: / new$/ }).waitFor();
      await page.mouse.up();
      await page.getByRole('heading', { name: pointed, exact: true }).waitFor();
      await page.keyboard.press('Escape');
      await page.evaluate('document.activeElement.blur()');
    }
  });

  test('has all of the latest exchanges after a flood, and draws and reads no more often for it', async () => {
    const { page, service } = await open();
    await page.getByText('No exchanges yet').waitFor();
    let reads = 0;
    page.on('request', (request) => {
      if (request.url().includes('/requests?')) reads += 1;
    });
    await page.evaluate(`window.drawn = 0;
      new MutationObserver(() => { drawn += 1; })
        .observe(document.querySelector('main'), { childList: true, subtree: true });`);
    const began = performance.now();
    for (let sent = 0; sent < 1_000; sent += 100) {
      await Promise.all(Array.from({ length: 100 }, () => service('GET', '/inventory')));
    }
    const drawn = await page.evaluate<number>('drawn');
    const intervals = 2 + (performance.now() - began) / 500;
    expect(reads).toBeLessThanOrEqual(intervals);
    expect(drawn).toBeLessThanOrEqual(3 * intervals);
    await exchange(page, 1_000).waitFor();
    await page.getByText('1,000 exchanges').waitFor();
    await expect
      .poll(() => page.getByRole('link', { name: /^Exchange (?:9[5-9]\d|1000)$/ }).count())
      .toBe(50);
  });

  test('walks through the whole journal, also by arrow key', async () => {
    const { page, service, press } = await open();
    for (let id = 1; id <= 60; id += 1) {
      await service('GET', id % 2 ? '/inventory' : '/store/orders');
      await service('GET', '/pets/999');
    }
    await page.reload();
    await exchange(page, 120).waitFor();
    await press('Older exchanges');
    await exchange(page, 21).waitFor();
    await press('Older exchanges');
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
    await page.goto(`${page.url().split('#')[0]}#/exchanges/3?search=status:404`);
    await opened(page, 3).waitFor();
    await page.goto(`${page.url().split('#')[0]}#/exchanges`);
    await page.reload();
    await exchange(page, 120).waitFor();
    await page.goto(`${page.url().split('#')[0]}#/exchanges/41`);
    await exchange(page, 41).waitFor();
    await exchange(page, 42).waitFor();
    expect(await page.locator('tr.opened').textContent()).toContain('41');
    await page.goto(`${page.url().split('#')[0]}#/exchanges/777`);
    await page.getByText(/^There is no exchange "?777"?; exchanges 1 to 120 are left/).waitFor();
  });

  test('sees that a reply waits, and releases it', async () => {
    const { page, press, service, control } = await open();
    await page.getByText('No exchanges yet').waitFor();
    const rules = [{ on: 'listPets', hold: true, reply: { status: 503 } }];
    await control('PUT', '/scenario', { body: { scenario: { rules } } });
    const order: number[] = [];
    const held = Promise.all(
      [1, 2].map(async (limit) => {
        await service('GET', `/pets?limit=${limit}`);
        order.push(limit);
      }),
    );
    await page.getByRole('link', { name: '2 replies wait' }).click();
    await exchange(page, 2).waitFor();
    await press('Release in reverse');
    await held;
    expect(order.length).toBe(2);
    await page.getByText('Released all replies, the latest first.').waitFor();
    const waiting = service('GET', '/pets');
    await page.getByRole('link', { name: '1 reply waits' }).click();
    await page.getByRole('button', { name: 'Release exchange 3' }).first().click();
    expect((await waiting).status).toBe(503);
    await page.getByRole('link', { name: '1 reply waits' }).waitFor({ state: 'detached' });
    // Its row stays in the search for held replies, and says what became of it.
    await page.getByRole('row', { name: /Exchange 3 .*503/ }).waitFor();
    await page.goto(`${page.url().split('#')[0]}#/exchanges/3`);
    await opened(page, 3).waitFor();
    const release = page.getByRole('button', { name: 'Release exchange 3' }).first();
    await release.waitFor({ state: 'detached' });
  });

  test('sees in the title how many calls came while the page was hidden', async () => {
    const { page, service, control } = await open();
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
    // The tab counts what is kept: none after a reset.
    const count = page.locator('nav a[data-count="2"]', { hasText: 'Exchanges' });
    await count.waitFor();
    await control('POST', '/reset');
    await count.waitFor({ state: 'detached' });
  });
});
