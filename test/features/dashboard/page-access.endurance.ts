import type { Locator, Page } from '@playwright/test';
import { expect, test } from 'vitest';
import { axeViolations } from '../../helpers/browser.ts';
import { describeDashboard, type Opened } from '../../helpers/dashboard.ts';

/** Each view, with little in it so that axe-core is fast, and what is there when it is loaded. */
const VIEWS = [
  ['exchanges/1', 'Send again'],
  ['exchanges', 'Exchange 2'],
  ['exchanges/2?with=1', 'Unpin'],
  ['exchanges/new?from=1', 'Send'],
  ['exchanges/rule?from=2', 'Add the rule'],
  ['scenarios/mine', 'Download YAML'],
  ['store/animals?limit=75', 'Edit animal 64'],
  ['store/orders', 'Ship order 1'],
  ['assumptions?text=cancel', 'Only changed'],
  ['clock', 'One day forward'],
  ['coverage/getPet-410', 'Draft a rule'],
  ['sandboxes', 'Create'],
  ['reference/getPet', 'Try it'],
] as const;

/** Menus and questions: what opens them in a view, and what is in them. */
const OPENED = [
  ['exchanges/1', 'Send again', 'More', 'Pin to compare'],
  ['exchanges', 'Exchange 2', 'More about the list', 'Export HAR'],
  ['exchanges', 'Exchange 2', 'What you can type', 'body:Rex'],
  ['coverage', 'Findings', 'Shortcuts', 'save a scenario and turn it on'],
  ['scenarios/mine', 'Download YAML', 'Delete mine', 'Yes, delete'],
  ['clock', 'One day forward', 'Clock', 'Assumptions'],
] as const;

/** The least and the most, and where a rule of the style sheet begins. */
const WIDTHS = [320, 360, 450, 704, 895, 896, 1024, 1087, 1088, 1440, 1599, 1600, 1920];

const LONG_NAME = 'long'.repeat(16);

describeDashboard('the page', (open) => {
  async function visited(view: string): Promise<Opened> {
    const opened = await open(view);
    await opened.service('GET', '/pets/1');
    await opened.service('DELETE', '/store/orders/2');
    const rules = [{ on: 'listPets', reply: { status: 418 } }];
    for (const name of ['mine', LONG_NAME]) {
      await opened.control('PUT', `/scenarios/${name}`, { body: { rules } });
    }
    return opened;
  }

  async function show(page: Page, view: string, mark: string): Promise<void> {
    await page.evaluate(`location.hash = '#/${view}'`);
    await page
      .locator(`text="${mark}"`)
      .or(page.locator(`[aria-label="${mark}"]`))
      .first()
      .waitFor();
    if (view === 'scenarios/mine') {
      await page.getByRole('textbox', { name: 'Scenario in YAML' }).waitFor();
    }
  }

  test.each([
    ['light', 1440, undefined],
    ['light', 360, undefined],
    ['dark', 1440, ['color-contrast']], // all that differs
  ] as const)(
    'has no violation that axe-core finds, in any view, menu and dialog, %s at %d',
    async (colorScheme, width, rules) => {
      const { page } = await visited('exchanges');
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      const found: object[] = [];
      const check = async (of: string) => {
        for (const violation of await axeViolations(page, rules)) found.push({ of, violation });
      };
      for (const [view, mark] of VIEWS) {
        await show(page, view, mark);
        await check(view);
      }
      for (const [view, mark, opener, content] of OPENED) {
        await show(page, view, mark);
        const button = page.getByRole('button', { name: opener, exact: true });
        // The menu of views is there where they have no room.
        if (!(await button.isVisible())) continue;
        await button.click();
        await page
          .getByText(content, { exact: true })
          .or(page.getByLabel(content))
          .first()
          .waitFor();
        await check(opener);
        await page.keyboard.press('Escape');
      }
      expect(found).toEqual([]);
    },
  );

  test('fits into every width: nothing scrolls sideways, the bars cover nothing, panels can be read', async () => {
    const { page, control } = await visited('exchanges');
    await control('PUT', '/scenario', { body: { scenarios: [LONG_NAME] } });
    await page.locator('.chip').waitFor();
    await page.locator('.switcher b').waitFor();
    await page.evaluate(`document.querySelector('.switcher b').textContent = '${LONG_NAME}'`);
    const measured = () =>
      page.evaluate<Record<string, number>>(`(() => {
        const views = document.querySelector('#views');
        const widthOf = (of) => Math.round(of.getBoundingClientRect().width);
        const texts = [...document.querySelectorAll('main :is(td, th, p, h2, button, a)')];
        const hidden = (of) => {
          const { left, right } = of.getBoundingClientRect();
          const bar = of.closest('.chips').getBoundingClientRect();
          return left < bar.left || right > bar.right + 1;
        };
        const thin = texts.filter((it) => it.checkVisibility() && widthOf(it) < 24
          && it.textContent.trim().length > 3);
        scrollTo(0, document.body.scrollHeight);
        const last = document.querySelector('main').lastElementChild.getBoundingClientRect();
        const foot = document.querySelector('footer').getBoundingClientRect();
        scrollTo(0, 0);
        return {
          covered: Math.max(0, Math.round(last.bottom - foot.top)),
          overflow: document.documentElement.scrollWidth - innerWidth,
          views: views.scrollWidth - views.clientWidth,
          header: document.querySelector('header').scrollHeight,
          panel: Math.min(innerWidth, ...[...document.querySelectorAll('.panel')].map(widthOf)),
          cut: [...document.querySelectorAll('.exchanges tbody .place')].filter((it) => {
            it.firstChild.textContent = '99999';
            return it.scrollWidth > it.clientWidth;
          }).length,
          arrow: Math.max(0, ...[...document.querySelectorAll('.switcher > *')]
            .map((it) => it.getBoundingClientRect().right - it.parentElement.getBoundingClientRect().right)),
          beyond: [...document.querySelectorAll('main :is(.panel, .actions) button')]
            .filter((it) => it.getBoundingClientRect().right > innerWidth).length,
          thin: thin.length,
          end: [...document.querySelectorAll('.strip .chip:first-child button')].filter(hidden).length,
          empty: document.querySelectorAll('ul:empty').length,
        };
      })()`);
    for (const [view, mark] of VIEWS) {
      await page.setViewportSize({ width: 1920, height: 800 });
      await show(page, view, mark);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        const { header = 0, panel = 0, ...beyond } = await measured();
        expect({ view, width, ...beyond }).toEqual({
          ...{
            view,
            width,
            covered: 0,
            overflow: 0,
            views: 0,
            cut: 0,
            arrow: 0,
            beyond: 0,
            thin: 0,
            end: 0,
            empty: 0,
          },
        });
        expect(header).toBeLessThanOrEqual(56);
        expect(panel).toBeGreaterThanOrEqual(width < 400 ? width - 40 : 360);
      }
    }
  });

  /** The pixels of a part of the page. */
  async function pixelsOf(page: Page, part: Locator): Promise<readonly number[]> {
    const picture = await part.screenshot();
    return page.evaluate<number[]>(`(async () => {
      const image = new Image();
      image.src = 'data:image/png;base64,${picture.toString('base64')}';
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
      canvas.drawImage(image, 0, 0);
      const { data } = canvas.getImageData(2, 2, image.width - 4, image.height - 4);
      return [...new Uint32Array(data.buffer)];
    })()`);
  }

  test('leaves nothing blank in forced colours, and shows what is on and what is chosen', async () => {
    const { page } = await visited('exchanges/1');
    await page.emulateMedia({ forcedColors: 'active' });
    const look = async (part: Locator) => pixelsOf(page, part);
    for (const part of ['button.main', 'nav a[aria-current="page"]', '.status', '.chip']) {
      if (part === '.chip') await page.getByRole('link', { name: 'Clock' }).click();
      if (part === '.chip') await page.getByRole('button', { name: 'Freeze' }).click();
      if (part === '.chip') await page.getByRole('link', { name: /^clock frozen/ }).waitFor();
      // It may be drawn anew meanwhile.
      const colours = async () => new Set(await look(page.locator(part).first())).size;
      await expect.poll(colours, { message: part }).toBeGreaterThan(1);
    }
    const backOf = async (part: Locator) => (await look(part))[0];
    const other = page.locator('nav a:not([aria-current="page"])').first();
    expect(await backOf(page.locator('nav a[aria-current="page"]'))).not.toBe(await backOf(other));
    const line = `getComputedStyle(document.querySelector('nav a:not([aria-current="page"])'))`;
    expect(await page.evaluate(`${line}.borderBottomWidth`)).toBe('0px');
    await page.getByRole('link', { name: 'Coverage' }).click();
    // Both are shown, so both have the colours of what is on: a line tells which is assumed.
    await page.getByText('assumed, shown').waitFor();
    const lines = await page.evaluate(`['documented', 'assumed'].map(
      (kind) => getComputedStyle(document.querySelector('p > .' + kind)).outlineStyle)`);
    expect(lines).toEqual(['none', 'dashed']);
    await page.getByRole('link', { name: 'Scenarios' }).click();
    const box = page.getByRole('checkbox', { name: 'outage' });
    await box.waitFor();
    const off = await look(box);
    await box.click();
    await page.getByRole('link', { name: 'scenario outage' }).waitFor();
    const on = page.getByRole('checkbox', { name: 'outage', checked: true });
    await page.mouse.move(0, 0);
    await page.getByRole('heading', { level: 1 }).focus();
    expect(await look(on)).not.toEqual(off);
    await page.getByRole('link', { name: 'Reference' }).click();
    await page.getByRole('link', { name: 'getPet' }).click();
    const [chosen, free] = [true, false].map((pressed) =>
      page.getByRole('region', { name: 'Replies' }).getByRole('button', { pressed }).first(),
    );
    if (chosen && free) expect(await backOf(chosen)).not.toBe(await backOf(free));
  });

  test('shows every badge of a row beside what is open, and covers no filter', async () => {
    const { page, service, button } = await visited('exchanges/1');
    await page.getByRole('link', { name: 'Exchange 1', exact: true }).waitFor();
    await service('GET', '/pets/1?bogus=1', { headers: { Prefer: 'code=204' } });
    await service('GET', '/pets/1', { headers: { 'mock-client': 'me' } });
    const waiting = page.getByRole('button', { name: /^\d new/ });
    await waiting.waitFor();
    const fresh = await waiting.boundingBox();
    const chip = await button('not by hand').boundingBox();
    expect(fresh?.y).toBeGreaterThanOrEqual((chip?.y ?? 0) + (chip?.height ?? 0));
    await page.evaluate('location.hash = "#/exchanges/3?pin=2"');
    await page.getByRole('row', { name: /^Exchange 3 .*not by the document.*1 finding/ }).waitFor();
    await page.getByRole('rowheader', { name: 'Exchange 2' }).waitFor();
    await page.getByRole('row', { name: /^Exchange 2 .*pinned/ }).waitFor();
    for (const width of [1280, 1100]) {
      await page.setViewportSize({ width, height: 800 });
      const beyond = await page.evaluate(`[...document.querySelectorAll('td .badge')]
        .filter((it) => it.getBoundingClientRect().right > it.closest('td').getBoundingClientRect().right)
        .length`);
      expect([width, beyond]).toEqual([width, 0]);
    }
    const [badge, cell] = [page.getByText('by hand', { exact: true }), page.locator('td.reason')];
    const place = await badge.boundingBox();
    const room = await cell.filter({ has: badge }).boundingBox();
    expect((place?.x ?? 0) - (room?.x ?? 0)).toBeCloseTo(8, 0);
  });

  test('shows a reply of the coverage beside its matrix', async () => {
    const { page } = await visited('coverage/getPet-410');
    for (const width of [1280, 1024]) {
      await page.setViewportSize({ width, height: 800 });
      const [panel, table] = [
        page.getByRole('article', { name: /^getPet/ }),
        page.getByRole('table'),
      ];
      await page.getByRole('link', { name: 'Draft a rule' }).waitFor();
      const { x = 0, y = 0 } = (await panel.boundingBox()) ?? {};
      const matrix = await table.boundingBox();
      expect([width, x > 500, y < (matrix?.y ?? 0)]).toEqual([width, true, true]);
    }
  });

  test('shows the base URL and what waits to be released where there is little room', async () => {
    const { page, service, control } = await visited('exchanges');
    await control('POST', '/holds', { body: { on: 'listPets', hold: 'late' } });
    const held = service('GET', '/pets');
    await page.getByRole('link', { name: '1 reply waits' }).waitFor();
    for (const width of [720, 360]) {
      await page.setViewportSize({ width, height: 740 });
      const copy = page.getByRole('button', { name: 'Copy the base URL' });
      for (const part of [copy, page.locator('.strip .url code')]) {
        const { x = 0, width: own = 0 } = (await part.boundingBox()) ?? {};
        expect([width, own > 0 && x + own <= width]).toEqual([width, true]);
      }
    }
    // Where there is no room for each change, a menu has them.
    await page.getByRole('button', { name: '2: 1 reply waits changes' }).click();
    await page.getByRole('link', { name: '1 reply waits' }).click();
    await page.getByRole('button', { name: /^Release exchange/ }).click();
    expect((await held).status).toBe(200);
  });

  /** What to press in a view, one after the other. */
  const PRESSED = [
    ['exchanges/1', 'Send again', 'Compare with exchange 1', 'Unpin'],
    ['exchanges/rule?from=2', 'Add the rule'],
    ['exchanges/new', 'Send'],
    ['exchanges/2', 'Close'],
    ['scenarios/mine', 'Save', 'Close'],
    ['scenarios/mine', 'Delete mine', 'Yes, delete'],
    ['store/orders', 'Ship order 1', 'Undo'],
    ['store/orders', 'Back to pending order 2', 'Dismiss'],
    ['store/orders', 'Edit order 1', 'Cancel'],
    ['store/orders', 'Delete order 4', 'Yes, delete'],
    ['clock', 'Freeze', 'Back to real time'],
    ['clock', 'One day forward', 'Reset the clock'],
    ['sandboxes', 'Shortcuts', 'Shortcuts'],
    ['store/animals', 'Reset sandbox', 'Yes, reset'],
  ] as const;

  test('closes a question when somebody goes elsewhere', async () => {
    const { page } = await visited('clock');
    await page.evaluate('location.hash = "#/store/orders"');
    await page.getByRole('button', { name: 'Delete order 1', exact: true }).click();
    const question = page.getByRole('dialog', { name: 'Delete order 1?' });
    await question.waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Clock' }).waitFor();
    await question.waitFor({ state: 'hidden' });
  });

  test('keeps the focus in sight, whatever is pressed', async () => {
    const { page } = await visited('exchanges');
    const lost: string[] = [];
    const settled = 'new Promise((done) => requestAnimationFrame(() => setTimeout(done)))';
    for (const [view, ...names] of PRESSED) {
      await page.evaluate(`location.hash = '#/${view}'`);
      await page.evaluate(settled); // a question that opens before the view changes is closed by that
      for (const name of names) {
        const target = page.getByRole('button', { name }).or(page.getByRole('link', { name }));
        await target.first().focus();
        await page.keyboard.press('Enter');
        await page.evaluate(settled); // the answer to a question begins what takes time
        await page
          .locator('[aria-busy="true"], [aria-disabled="true"]')
          .waitFor({ state: 'detached' });
        await page.evaluate(settled);
        const isLost = await page.evaluate<boolean>('document.activeElement === document.body');
        if (isLost) lost.push(`${view}: ${name}`);
      }
    }
    expect(lost).toEqual([]);
  });

  test('works with the keyboard alone', async () => {
    const { page, service } = await visited('exchanges');
    await page.getByRole('link', { name: 'Exchange 2' }).waitFor();
    const { keyboard } = page;
    const focused = () =>
      page.evaluate<string>(
        'document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent',
      );
    const tabTo = async (name: string, key = 'Tab') => {
      for (let presses = 0; presses < 60; presses += 1) {
        if ((await focused()) === name) return;
        await keyboard.press(key);
      }
      throw new Error(`Tab does not lead to ${name}.`);
    };
    await keyboard.press('Tab');
    expect(await focused()).toBe('Skip to content');
    await keyboard.press('Enter');
    await page.locator('#main:focus').waitFor();
    await tabTo('Exchange 2');
    await keyboard.press('Enter');
    await page.locator('h2:focus', { hasText: 'Exchange 2' }).waitFor();
    await keyboard.press('Escape');
    await page.locator('a[aria-label="Exchange 2"]:focus').waitFor();
    await keyboard.press('?');
    await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor();
    await keyboard.press('Escape');
    await keyboard.press('/');
    await page.locator('input[type="search"]:focus').waitFor();
    // The arrow keys lead from the search to the rows, and through them.
    for (const [key, number] of [
      ['ArrowDown', 2],
      ['ArrowDown', 1],
      ['ArrowUp', 2],
    ] as const) {
      await keyboard.press(key);
      await page.locator(`a[aria-label="Exchange ${number}"]:focus`).waitFor();
    }
    await keyboard.press('Enter');
    await page.locator('h2:focus', { hasText: 'Exchange 2' }).waitFor();
    await keyboard.press('Escape');
    await page.locator('a[aria-label="Exchange 2"]:focus').waitFor();
    // A digit opens a view, wherever the focus is.
    await keyboard.press('3');
    await page.locator('h1:focus', { hasText: 'Scenarios' }).waitFor();
    await tabTo('Store', 'Shift+Tab');
    await keyboard.press('Enter');
    await page.locator('h1:focus', { hasText: 'Store' }).waitFor();
    await tabTo('Orders');
    await keyboard.press('Enter');
    await page.getByRole('button', { name: 'Ship order 1', exact: true }).waitFor();
    await tabTo('Ship order 1');
    await keyboard.press('Space');
    await page.getByText('Order 1 has shipped. Cancelling it now gets 409.').waitFor();
    expect((await service('DELETE', '/store/orders/1')).status).toBe(409);
    // The page may announce the change before it shows the new row.
    await page.getByRole('button', { name: 'Back to pending order 1', exact: true }).waitFor();
    await tabTo('Back to pending order 1');
    await keyboard.press('Enter');
    await page.getByRole('button', { name: 'Ship order 1', exact: true }).waitFor();
    expect((await service('DELETE', '/store/orders/1')).status).toBe(204);
    await tabTo('Edit order 1', 'Tab');
    await keyboard.press('Enter');
    await page.getByLabel('quantity').waitFor();
    await page.locator('[name="petId"]:focus').waitFor();
    await keyboard.press('Escape');
    await page.locator('[aria-label="Edit order 1"]:focus').waitFor();
    await keyboard.press('Enter');
    await page.locator('[name="petId"]:focus').waitFor();
    await keyboard.press('Tab');
    await keyboard.press('Control+a');
    await keyboard.type('7');
    await keyboard.press('Enter');
    await page.getByText('Saved order 1.').waitFor();
    expect((await service('GET', '/store/orders')).text).toContain('"quantity":7');
  });
});
