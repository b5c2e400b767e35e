import { expect, test } from 'vitest';
import { startServer } from '../../../src/index.ts';
import { describeDashboard, openDashboard } from '../../helpers/dashboard.ts';
import { serverFor } from '../../helpers/deployment.ts';
import { freePort } from '../../helpers/host.ts';

const REFUSAL = { code: 'invalid_input', message: 'not today', status: 400 };

describeDashboard('the page', (open, browser) => {
  test('keeps what is typed into its forms and the editor while the server is killed', async () => {
    const first = await startServer({ port: await freePort() });
    const { page, press, control, service } = await openDashboard(
      browser(),
      first,
      'exchanges/new',
    );
    const base = page.url().split('#')[0];
    const typedPath = () => page.getByLabel('Path').inputValue();
    await service('GET', '/pets/1');
    await page.getByLabel('Path').fill('/v1/pets/41');
    await page.getByLabel('Body').fill('{"name":"Rex"}');
    await page.goto(`${base}#/exchanges/rule`);
    await page.getByLabel('Status').fill('418');
    await page.goto(`${base}#/exchanges/new?from=1`);
    await expect.poll(typedPath).toContain('/pets/1');
    await page.getByLabel('Path').fill('/v1/pets/42');
    await page.goto(`${base}#/exchanges/rule?from=1`);
    await page.getByText('GET /pets/{petId} with petId 1 gets 200').waitFor();
    await page.getByLabel('Status').fill('419');
    await page.goto(`${base}#/store/animals`);
    await press('Edit animal 3');
    await page.getByRole('form').getByLabel('name').fill('Rex III');
    await press('Edit animal 4');
    await page.goto(`${base}#/scenarios`);
    await press('Edit a copy of slow');
    const editor = page.getByRole('textbox', { name: 'Scenario in YAML' });
    await editor.press('Control+End');
    await editor.pressSequentially('# mine');
    await control('PUT', '/scenario', { body: { scenarios: ['outage'] } });
    await control('PATCH', '/assumptions', { body: { 'cancel-again': '204' } });
    await control('PUT', '/clock', { body: { now: '2030-01-01T00:00:00Z', frozen: true } });
    for (const chip of ['scenario outage', 'cancel-again=204', /^clock frozen/]) {
      await page.getByRole('link', { name: chip }).waitFor();
    }
    // What was saved before a reload comes back, too.
    await page.reload();
    await page.getByRole('link', { name: /^clock frozen/ }).waitFor();
    await editor.waitFor();
    await first.close();
    await page.getByText('The server does not answer.').first().waitFor();
    await press('Save');
    await page.getByText('Saved my-slow').waitFor({ state: 'detached' });
    await serverFor({ port: Number(new URL(first.url).port) });
    await page.getByText(/^The server was restarted at \d\d:\d\d/).waitFor();
    await page.reload();
    await press('Set it again');
    await page.getByText('Set again what was set by hand.').waitFor();
    expect((await control('GET', '/status')).json).toMatchObject({
      scenarios: ['outage'],
      assumptions: ['cancel-again=204'],
      clock: { now: '2030-01-01T00:00:00.000Z', frozen: true },
    });
    // What was saved is there again, too; what was typed since is still to be saved.
    expect((await control('GET', '/scenarios/my-slow')).text).toContain('rules:');
    await page.getByText('The server no longer has this scenario').waitFor({ state: 'detached' });
    await page.goto(`${base}#/scenarios`);
    await page.getByRole('link', { name: 'Edit my-slow' }).click();
    await editor.waitFor();
    await page.reload();
    await expect.poll(() => editor.inputValue()).toContain('# mine');
    await press('Save');
    await page.getByText(/^Saved my-slow, \d+ lines\./).waitFor();
    await page.goto(`${base}#/exchanges/rule`);
    await page.getByText('gets 418, at call 1.').waitFor();
    await page.goto(`${base}#/exchanges/new`);
    await expect.poll(typedPath).toBe('/v1/pets/41');
    expect(await page.getByLabel('Body').inputValue()).toBe('{"name":"Rex"}');
    await page.goto(`${base}#/store/animals`);
    const name = page.getByRole('form').getByLabel('name'); // a form with a draft is open again
    await expect.poll(() => name.inputValue()).toBe('Rex III');
    // The number is that of another call now.
    await service('GET', '/pets/2');
    await page.goto(`${base}#/exchanges/new?from=1`);
    await expect.poll(typedPath).toContain('/pets/2');
    await page.goto(`${base}#/exchanges/rule?from=1`);
    await page.getByText('GET /pets/{petId} with petId 2 gets 503').waitFor();
  });

  test('sets nothing again that was not set, and names a scenario that is lost', async () => {
    const first = await startServer({ port: await freePort() });
    const { page, press, control } = await openDashboard(browser(), first, 'clock');
    await control('PUT', '/scenarios/theirs', { body: { rules: [] } });
    await control('PUT', '/scenario', { body: { scenarios: ['theirs', 'slow'] } });
    await page.getByRole('link', { name: 'scenario slow' }).waitFor();
    await first.close();
    await page.getByText('The server does not answer.').first().waitFor();
    await serverFor({ port: Number(new URL(first.url).port) });
    await press('Set it again');
    await page.getByText('The server no longer has theirs; all else is set again.').waitFor();
    await page.getByText('The server was restarted').waitFor({ state: 'detached' });
    expect((await control('GET', '/status')).json).toMatchObject({ scenarios: ['slow'] });
    const { edits } = Object((await control('GET', '/requests?edits=true&limit=0')).json);
    expect(edits.map(({ what }: { what: string }) => what)).toEqual(['turned on slow']);
  });

  test('knows its own changes after a reload, and undoes no earlier one along with the next', async () => {
    const { page, press, control } = await open('store/orders');
    await press('Ship order 1');
    await page.getByRole('button', { name: 'Undo', exact: true }).waitFor();
    await page.reload();
    await press('Cancel order 4');
    await page.getByRole('button', { name: 'Undo', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Exchanges', exact: true }).click();
    await page.getByText('changed order 1').first().waitFor();
    expect(await page.getByText('by the page').count()).toBe(0);
    await press('Undo');
    await page.getByText('Undone: changed order 4.').waitFor();
    expect((await control('GET', '/orders/1')).json).toMatchObject({ status: 'shipped' });
  });

  test('knows equal changes apart while the clock stands still', async () => {
    const { page, press, control } = await open('store/orders');
    await control('PUT', '/clock', { body: { frozen: true } });
    for (const [label, done] of [
      ['Ship', 'has shipped'],
      ['Back to pending', 'is pending'],
      ['Ship', 'has shipped'],
    ]) {
      await press(`${label} order 1`);
      await page.getByText(new RegExp(`^Order 1 ${done}.* Records changed: 1 in orders`)).waitFor();
    }
    await press('Undo');
    await page.getByText('Undone: changed order 1.').waitFor();
    expect((await control('GET', '/orders/1')).json).toMatchObject({ status: 'pending' });
  });

  test('takes no call of another client for its own, and no press for two', async () => {
    const { page, button, service, control } = await open('exchanges/1');
    await service('GET', '/pets/1');
    await button('Send again').waitFor();
    await page.route('**/replay', async (route) => {
      const reply = await route.fetch();
      for (let call = 0; call < 5; call += 1) await service('GET', '/pets/2');
      await route.fulfill({ response: reply });
    });
    await button('Send again').dblclick();
    await page.getByRole('heading', { name: 'Exchange 2', exact: true }).waitFor();
    expect((await control('GET', '/requests/2')).json).toMatchObject({ replays: 1 });
    expect((await control('GET', '/requests?limit=0')).json).toMatchObject({ total: 7 });
    const reset = page.getByRole('button', { name: 'Reset sandbox' });
    await reset.press('Enter');
    await page.keyboard.press('Enter'); // a second press confirms nothing
    await page.keyboard.press('Escape');
    expect((await control('GET', '/requests?limit=0')).json).toMatchObject({ total: 7 });
  });

  test('works at 3 seconds of latency: each press counts once', async () => {
    const { page, press, service } = await open('clock');
    await page.route('**/__mock/**', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      await route.continue().catch(() => undefined);
    });
    await page.evaluate('location.hash = "#/store/orders"');
    await page.getByRole('button', { name: 'Ship order 1', exact: true }).dblclick();
    await page.getByText('Order 1 has shipped.').waitFor();
    expect((await service('DELETE', '/store/orders/1')).status).toBe(409);
    await press('Undo');
    await page.getByText('Undoing…').waitFor();
    await page.getByText('Undone:').waitFor();
    expect((await service('DELETE', '/store/orders/1')).status).toBe(204);
    await page.evaluate('location.hash = "#/exchanges/rule"');
    await page.getByText('GET /pets gets 503, at call 1.').waitFor();
    await press('Add the rule');
    await page.getByText('Adding…').waitFor();
    await page.getByText(/^Added to my-rules/).waitFor();
  });

  test('lets what a person chose stand until the server has said so, or refused it', async () => {
    const { page, press } = await open('scenarios');
    const outage = page.getByRole('checkbox', { name: 'outage' });
    const chip = page.getByRole('link', { name: 'scenario outage' });
    const option = page.locator('#assumption-cancel-again').getByRole('radio', { name: /^204/ });
    const badge = page.locator('.headline .badge');
    let isRefused = false;
    let answer = (): void => undefined;
    const hold = async () => {
      await page.unrouteAll();
      const isReleased = new Promise<void>((resolve) => {
        answer = resolve;
      });
      await page.route(/__mock\/(?:scenario|assumptions|clock)$/, async (route) => {
        if (route.request().method() === 'GET') return route.continue();
        await isReleased;
        return isRefused ? route.fulfill({ status: 400, json: REFUSAL }) : route.continue();
      });
    };
    const readTwice = async () => {
      for (const _ of 'ab') await page.waitForResponse(/\/status$/);
    };
    await outage.waitFor();
    for (isRefused of [true, false]) {
      await hold();
      await page.evaluate('location.hash = "#/scenarios"');
      await outage.click();
      await chip.waitFor();
      await readTwice();
      expect([await outage.isChecked(), await chip.count()]).toEqual([true, 1]);
      answer();
      if (isRefused) {
        await page.getByRole('listitem').getByText('Not today.').waitFor();
        expect([await outage.isChecked(), await chip.count()]).toEqual([false, 0]);
      } else await page.getByText('Turned on outage.').waitFor();
      await hold();
      await page.evaluate('location.hash = "#/assumptions"');
      await option.click();
      await page.getByRole('link', { name: 'cancel-again=204' }).waitFor();
      await readTwice();
      expect(await option.isChecked()).toBe(true);
      answer();
      if (isRefused) {
        await page.locator('#assumption-cancel-again').getByText('Not today.').waitFor();
        expect(await option.isChecked()).toBe(false);
      } else await page.getByText('cancel-again is 204.').waitFor();
      await hold();
      await page.evaluate('location.hash = "#/clock"');
      await press('Freeze');
      await expect.poll(() => badge.textContent()).toBe('frozen');
      await readTwice();
      expect(await badge.textContent()).toBe('frozen');
      answer();
      if (isRefused) {
        await page.locator('.headline').getByText('Not today.').waitFor();
        expect(await badge.textContent()).toBe('real time');
      } else await page.getByText('Clock: Freeze.').waitFor();
    }
    // What the server says now is what was chosen.
    await page.unrouteAll();
    await readTwice();
    expect(await badge.textContent()).toBe('frozen');
    expect(await chip.count()).toBe(1);
  });

  test('shows in one page what was changed in another, in every view, and reads no exchange for it', async () => {
    const { page, control, service } = await open('clock');
    await page.getByText('real time', { exact: true }).waitFor();
    await page.goto(`${page.url().split('#')[0]}#/assumptions`);
    await page.locator('#assumption-cancel-again').waitFor();
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.url()));
    const began = performance.now();
    for (let call = 0; call < 50; call += 1) await service('GET', '/pets/1');
    // The status, the assumptions and the findings, each every two seconds.
    expect(sent.length).toBeLessThanOrEqual(3 * (1 + (performance.now() - began) / 2_000));
    await control('PATCH', '/assumptions', { body: { 'cancel-again': '204' } });
    await page.locator('#assumption-cancel-again').getByText('changed', { exact: true }).waitFor();
  });

  test('explains its words to the pointer and to the keyboard', async () => {
    const { page } = await open('exchanges');
    const chip = page.getByRole('button', { name: 'with findings' });
    const explanation = page.getByText('Something the client should not do');
    await chip.hover();
    await explanation.waitFor();
    await page.getByRole('button', { name: '2xx' }).hover();
    await explanation.waitFor({ state: 'hidden' });
    await chip.focus();
    await explanation.waitFor();
  });
});
