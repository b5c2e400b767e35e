import { expect, onTestFinished, test } from 'vitest';
import { startServer } from '../../../src/index.ts';
import { describeDashboard, openDashboard } from '../../helpers/dashboard.ts';
import { serverFor } from '../../helpers/deployment.ts';

/** What a tester who writes no code does in the dashboard; each test has its own sandbox. */
describeDashboard('a tester', (open, browser) => {
  test('edits, adds and deletes records with ids beyond 2^53', async () => {
    const { page, control, service, press } = await open('store/animals');
    await press('Add an animal');
    const form = page.getByRole('form', { name: 'New animal' });
    await form.getByLabel('id (the next one if empty)').fill('9007199254740993');
    await form.getByLabel('name').fill('Zyx');
    await form.getByLabel('categoryId').fill('1');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByLabel('Search').fill('Zyx');
    await press('Edit animal 9007199254740993');
    await page.getByLabel('categoryId').fill('9007199254740995');
    await page.getByLabel('Search').fill('nothing has this');
    await page.getByText('No animal has “nothing has this” in it.').waitFor();
    await page.getByLabel('Search').fill('Zyx');
    await press('Save');
    await page.getByText('Saved animal 9007199254740993.').waitFor();
    expect((await service('GET', '/pets/9007199254740993')).text).toContain(
      '"categoryId":9007199254740995',
    );
    await press('Delete animal 9007199254740993');
    await press('Yes, delete');
    await page.getByText('No animal has “Zyx” in it.').waitFor();
    expect((await control('GET', '/animals/9007199254740993')).status).toBe(404);
  });

  test('keeps what is typed into a form while it is saved, and when it is left', async () => {
    const { page, control, press } = await open('store/animals');
    await press('Edit animal 1');
    const field = page.getByRole('textbox', { name: 'name', exact: true });
    await field.fill('Saved');
    let release = () => {};
    const isTyped = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/animals/1', async (route) => {
      await isTyped;
      await route.continue();
    });
    await press('Save');
    await page.locator('form[aria-busy="true"]').waitFor();
    await field.fill('Typed while saving');
    release();
    await page.getByText('Saved animal 1.').waitFor();
    await page.locator('form[aria-busy="false"]').first().waitFor();
    expect(await field.inputValue()).toBe('Typed while saving');
    expect((await control('GET', '/animals/1')).text).toContain('"Saved"');
    await page.getByRole('link', { name: 'Clock', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Clock' }).waitFor();
    await page.getByRole('link', { name: 'Store', exact: false }).first().click();
    await page.getByRole('button', { name: 'Edit (not saved) animal 1', exact: true }).waitFor();
    await expect.poll(() => field.inputValue()).toBe('Typed while saving');
    await press('Save');
    await field.waitFor({ state: 'detached' });
    expect((await control('GET', '/animals/1')).text).toContain('"Typed while saving"');
    await press('Empty animals');
    await page.getByText('Emptied animals.').waitFor();
    await page.getByText('There are no animals.').waitFor();
  });

  test('saves what they typed, and asks before it overwrites what somebody else changed', async () => {
    const { page, control, service, press } = await open('store/orders');
    const address = page.url();
    const order = async () => (await control('GET', '/orders/1')).json;
    const form = page.getByRole('form', { name: 'Edit order 1' });
    const status = form.getByLabel('status');
    await press('Edit order 1');
    await form.getByLabel('quantity').fill('4');
    await page.getByRole('link', { name: 'Clock', exact: true }).click();
    await form.waitFor({ state: 'detached' });
    expect((await service('DELETE', '/store/orders/1')).status).toBe(204);
    await page.goto(address);
    await expect.poll(() => status.inputValue()).toBe('cancelled');
    expect(await form.getByLabel('quantity').inputValue()).toBe('4');
    await press('Save');
    await form.waitFor({ state: 'detached' });
    expect(await order()).toMatchObject({ quantity: 4, status: 'cancelled' });
    await press('Edit order 1');
    await status.fill('shipped');
    await page.reload();
    await expect.poll(() => status.inputValue()).toBe('shipped');
    await control('PATCH', '/orders/1', { body: { status: 'pending', quantity: 5 } });
    await press('Save');
    const dialog = page.getByRole('dialog', { name: 'Overwrite order 1?' });
    await dialog.getByText('status: Somebody has changed it to pending since.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await form.getByRole('alert').getByText('Somebody has changed it to pending since.').waitFor();
    expect(await order()).toMatchObject({ status: 'pending' });
    await press('Save');
    await press('Yes, overwrite');
    await form.waitFor({ state: 'detached' });
    expect(await order()).toMatchObject({ quantity: 5, status: 'shipped' });
  });

  test('sees what is wrong with an edit', async () => {
    const { page, press } = await open('store/inventory');
    await press('Edit inventory entry 1');
    await page.getByText('Edit inventory entry 1', { exact: true }).waitFor();
    const quantity = page.getByLabel('quantity');
    await quantity.fill('many');
    await page.getByLabel('status').focus();
    const save = page.getByRole('button', { name: 'Save', exact: true });
    const place = await save.boundingBox();
    await press('Save');
    await page.getByRole('alert').getByText('Expected an integer, found "many".').waitFor();
    // It has the focus, and nothing has moved.
    await page.locator('[name="quantity"]:focus').waitFor();
    expect(await save.boundingBox()).toEqual(place);
    expect(await quantity.inputValue()).toBe('many');
    expect(await quantity.getAttribute('aria-invalid')).toBe('true');
    await press('Add an inventory entry');
    const form = page.getByRole('form', { name: 'New inventory entry' });
    await form.getByLabel('petId').fill('1');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('Enter a status.').waitFor();
    const invalid = await form.locator('[aria-invalid="true"]').all();
    expect(await Promise.all(invalid.map((it) => it.getAttribute('name')))).toEqual([
      'quantity',
      'status',
    ]);
    await press('Cancel');
    await press('Empty inventory');
    await page.getByText('There are no inventory entries. Add an inventory entry').waitFor();
  });

  test('sorts, pages and restores the store from a snapshot', async () => {
    const { page, control, press } = await open('store/animals?sort=-id');
    const [first] = Object.values<{ id: number }>(
      Object((await control('GET', '/animals?_sort=id&_order=desc&_limit=1')).json),
    );
    await page.getByRole('button', { name: `Edit animal ${first?.id}` }).waitFor();
    await page.getByText('25 of 64 records').waitFor();
    await press('Load more');
    await page.getByText('50 of 64 records').waitFor();
    await page.getByLabel('Name of a new snapshot').fill('before');
    await press('Keep');
    await page.getByText('Saved snapshot before.').waitFor();
    await control('PATCH', '/state', { body: { animals: { remove: 'all' } } });
    await page.getByText('There are no animals.').waitFor(); // what is below the table has moved
    await press('Restore before');
    await page.getByText('Restored before.').waitFor();
    expect((await control('GET', '/animals?_limit=1')).headers['x-total-count']).toBe('64');
  });

  test('jumps past the sunset of an operation', async () => {
    const { page, service, press } = await open('clock');
    const shown = (date: string) => page.locator('.headline', { hasText: date });
    await page.getByText('real time', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Back to real time' }).count()).toBe(0);
    await press('Jump past the sunset of getPet');
    await page
      .getByText('it answers as before, unless you change the assumption after-sunset')
      .waitFor();
    await shown('2030-12-06').waitFor();
    await press('30 days forward');
    await shown('2031-01-05').waitFor();
    await press('Freeze');
    await page.getByText('frozen', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'after-sunset' }).click();
    await page.getByRole('radio', { name: /^410/ }).click();
    await page.getByText('GET /pets/{petId} now gets 410 after its sunset.').waitFor();
    expect((await service('GET', '/pets/1')).status).toBe(410);
    await page.goBack();
    await press('Jump past the sunset of getPet');
    await page.getByText('it answers as after-sunset=410 says').waitFor();
  });

  test('chooses an option of the assumption that an exchange rests on', async () => {
    const { page, service } = await open();
    await service('GET', '/pets/999');
    await page.getByRole('link', { name: 'Exchange 1' }).click();
    await page.getByRole('link', { name: 'Assumption unknown-pet=404' }).click();
    const question = page.locator('#assumption-unknown-pet');
    await page.locator('#assumption-unknown-pet:focus').waitFor();
    await question.getByRole('radio', { name: /^400/ }).click();
    await page.getByText('unknown-pet is 400.').waitFor();
    expect((await service('GET', '/pets/999')).status).toBe(400);
  });

  test('sees what a check of a deployment found out beside the assumptions, and what drifted', async () => {
    const id = 'cancel-again';
    const checked = {
      deployment: 'https://staging.example/v1',
      at: '2026-11-22T09:00:00.000Z',
      assumptions: [
        { id, verdict: 'settled', option: '404', why: 'DELETE /store/orders/3 → 404' },
        { id: 'cors', verdict: 'none-of-the-options', why: 'half of the headers' },
        { id: 'conflict-body', verdict: 'open', why: 'it needs --writes' },
        { id: 'pets-order', verdict: 'settled', option: 'id' },
      ],
    } as const;
    const server = await serverFor({ checked });
    const { page, press } = await openDashboard(browser(), server, 'assumptions');
    const about = (name: string) => page.locator(`#assumption-${name}`);
    await about(id).getByText('drift').waitFor();
    expect(await about(id).textContent()).toContain(
      'https://staging.example/v1: 404, checked on 2026-11-22 (DELETE /store/orders/3 → 404)',
    );
    expect(await about('conflict-body').textContent()).toContain('it needs --writes');
    expect(await about('cors').textContent()).toContain('none of the options');
    await press('Only drift');
    await about('conflict-body').waitFor({ state: 'detached' });
    expect(await page.getByRole('radiogroup').count()).toBe(2);
    await about(id).getByRole('radio', { name: /^404/ }).click();
    await about(id).waitFor({ state: 'detached' });
    expect(await page.getByRole('radiogroup').count()).toBe(1);
  });

  test('sees which replies of a deployment contradict the option of an assumption', async () => {
    const deployment = await startServer({ port: 0, assume: { 'invalid-input': '422' } });
    const server = await startServer({ port: 0, upstream: new URL(deployment.url) });
    for (const it of [server, deployment]) onTestFinished(() => it.close());
    const { page, service, press } = await openDashboard(browser(), server, 'assumptions');
    await service('GET', '/pets/x');
    const question = page.locator('#assumption-invalid-input');
    await question.getByText('(invalid-input=400), found 422').waitFor();
    await press('Only drift');
    await page.locator('#assumption-cors').waitFor({ state: 'detached' });
    expect(await page.getByRole('radiogroup').count()).toBe(1);
    await question.getByRole('link', { name: 'Exchange 1' }).click();
    await page.getByRole('article').getByText('drift').first().waitFor();
  });

  test('creates a sandbox, which opens, finds it and deletes it', async () => {
    const { page, press } = await open('sandboxes');
    for (const name of ['mine-too', 'mine']) {
      await page.getByLabel('Name of a new sandbox').fill(name);
      await press('Create');
      await page.waitForURL(`**/~${name}/__mock/**`, { waitUntil: 'commit' });
      await page.getByText(`Created sandbox ${name}.`).waitFor();
      await page.getByRole('link', { name: /^Sandbox / }).click();
    }
    const { origin } = new URL(page.url());
    const headers = { Authorization: 'Bearer demo-key' };
    for (const name of ['mine', 'mine-too']) await fetch(`${origin}/~${name}/v1/pets`, { headers });
    await page.getByRole('link', { name: 'staging', exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Delete sandbox staging' }).count()).toBe(0);
    await page.getByLabel('Search', { exact: true }).fill('mine');
    await page.getByText('2 sandboxes').waitFor();
    await page.getByRole('button', { name: 'Last use' }).click();
    await page.getByRole('button', { name: 'Last use ↑' }).waitFor();
    await press('Delete sandbox mine-too');
    await press('Yes, delete');
    await page.getByText('Deleted sandbox mine-too.').waitFor();
    await page.getByText('1 sandbox', { exact: true }).waitFor();
    // The page of a sandbox that goes leads to the default one, and does not create it again.
    await press('Delete sandbox mine');
    await press('Yes, delete');
    await page.waitForURL(`${origin}/__mock/#/sandboxes`, { waitUntil: 'commit' });
    await page.getByText('Deleted sandbox mine.').waitFor();
    await page.getByRole('link', { name: 'staging', exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'mine', exact: true }).count()).toBe(0);
  });
});
