import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { expect, test } from 'vitest';
import { axeViolations, openPage } from '../../helpers/browser.ts';
import { describeDashboard } from '../../helpers/dashboard.ts';

const editorOf = (page: Page) => page.getByRole('textbox', { name: 'Scenario in YAML' });

const edited = (page: Page, text: string) =>
  expect.poll(() => editorOf(page).inputValue(), { timeout: 60_000 }).toContain(text);

/** What a tester does to the replies of the mock; each test has its own sandbox. */
describeDashboard('a tester', (open, browser) => {
  test('turns scenarios on and off, and orders them', async () => {
    const { page, service, button } = await open('scenarios');
    const checkbox = (name: string) => page.getByRole('checkbox', { name });
    await checkbox('invalid-keys').waitFor();
    const place = await checkbox('invalid-keys').boundingBox();
    await checkbox('outage').press('Space');
    await checkbox('invalid-keys').press('Space'); // before the list shows the first
    await button('Move invalid-keys up').click();
    await button('Move outage up').waitFor();
    // It stays under the hand.
    expect(await checkbox('invalid-keys').boundingBox()).toEqual(place);
    expect((await service('GET', '/pets')).status).toBe(503);
    await checkbox('outage').click();
    await page.getByText('Turned off outage.').waitFor();
    expect((await service('GET', '/pets')).status).toBe(401);
    await page.getByRole('link', { name: 'scenario invalid-keys' }).waitFor();
    await page.getByRole('button', { name: 'Reset sandbox' }).dblclick();
    expect((await service('GET', '/pets')).status).toBe(401);
    await page.getByRole('button', { name: 'Yes, reset' }).click();
    await page.getByText('Nothing changed', { exact: true }).waitFor();
    expect((await service('GET', '/pets')).status).toBe(200);
  });

  test('makes rules of three calls, and hands them to a colleague as a file', async () => {
    const { page, service, control, press } = await open();
    await service('GET', '/pets/999', { headers: { 'X-Trace': '1' } });
    await service('PATCH', '/inventory/1', { body: { quantity: 12 } });
    await service('DELETE', '/store/orders/2');
    await page.getByRole('link', { name: 'Exchange 3', exact: true }).waitFor();
    const makeRule = async (number: number) => {
      await page.getByRole('link', { name: `Exchange ${number}`, exact: true }).click();
      await page.getByRole('heading', { name: `Exchange ${number}`, exact: true }).waitFor();
      await press('More');
      await press('Make a rule');
      await page.getByRole('heading', { name: `Make a rule of exchange ${number}` }).waitFor();
    };
    await makeRule(1);
    await page.getByRole('textbox', { name: 'Status' }).fill('410');
    // What was not found is no body of another status; one that is typed stays.
    await page.getByText(/gets 410[ ,].*The body was that of 404, so it is left out\./).waitFor();
    const ruleBody = page.getByLabel('Body', { exact: true });
    expect(await ruleBody.inputValue()).toBe('');
    await page.getByRole('textbox', { name: 'Status' }).fill('404');
    await page.getByText('GET /pets/{petId} with petId 999 gets 404 with a body').waitFor();
    expect(await ruleBody.inputValue()).toContain('not_found');
    await page.getByRole('textbox', { name: 'Status' }).fill('410');
    await page.getByText(/gets 410[ ,].*left out\./).waitFor();
    await ruleBody.fill('gone');
    await page
      .getByText('GET /pets/{petId} with petId 999 gets 410 with a body of its own')
      .waitFor();
    await press('Add the rule');
    await page.getByText('Added to my-rules: GET /pets/{petId} with petId 999').waitFor();
    await makeRule(2);
    await page.getByLabel('Calls', { exact: true }).fill('1');
    expect(await page.getByLabel('Only for calls').inputValue()).toBe('petId: 1');
    await page.getByLabel('Headers').fill('X-Late=yes');
    await page.getByText(/^Not yet a rule\. .*an object of headers by name/).waitFor();
    await press('Add the rule');
    await page.locator('textarea[aria-invalid="true"]').waitFor();
    await page.getByLabel('Delay in ms').fill('5');
    await page.getByLabel('Headers').fill('X-Late: yes');
    await press('Add the rule');
    await page.getByText('Added to my-rules: PATCH /inventory/{petId} with petId 1').waitFor();
    await makeRule(3);
    await page.getByLabel('Fault').selectOption('reset');
    await press('Add the rule');
    await page.getByText('Added to my-rules: DELETE /store/orders/{orderId} with').waitFor();
    expect((await service('GET', '/pets/999')).status).toBe(410);
    expect((await service('GET', '/pets/1')).status).toBe(200);
    const body = { quantity: 13 };
    const late = await service('PATCH', '/inventory/1', { body });
    expect(late.headers['x-late']).toBe('yes');
    expect(late.json).toMatchObject({ quantity: 12 });
    expect((await service('PATCH', '/inventory/1', { body })).json).toMatchObject(body);
    await expect(service('DELETE', '/store/orders/2')).rejects.toThrow();
    await page.getByRole('link', { name: 'scenario my-rules' }).click();
    await page.getByRole('link', { name: 'Edit my-rules' }).click();
    await editorOf(page).waitFor();
    const saved = page.waitForEvent('download');
    await press('Download YAML');
    const text = await readFile((await (await saved).path()) ?? '', 'utf8');
    await control('POST', '/reset', { body: { keep: [] } });
    await control('PUT', '/scenario', { body: { text } });
    expect((await service('GET', '/pets/999')).status).toBe(410);
  });

  test('keeps scenarios of their own, which a colleague sees', async () => {
    const { page, service, press } = await open('scenarios');
    await page.getByLabel('New scenario').fill('checkout');
    await press('Create');
    await editorOf(page).waitFor();
    await editorOf(page).press('Control+End');
    await editorOf(page).pressSequentially('  - { on: listPets, reply: { status: 418 } }');
    await page.getByText('Not saved; this tab keeps it').waitFor();
    // Nothing typed is lost: not by another view, nor by a reload.
    await page.getByRole('link', { name: 'Store', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Store' }).waitFor();
    await page.goBack();
    await edited(page, '418');
    await page.reload();
    await edited(page, '418');
    await page.getByText('Not saved; this tab keeps it').waitFor();
    await press('Save and turn on');
    await page.getByText(/^Saved checkout, \d+ lines\. It is on\./).waitFor();
    expect((await service('GET', '/pets')).status).toBe(418);
    await editorOf(page).press('Control+End');
    await editorOf(page).pressSequentially('\n- { on: listOrders, reply: { status: 418 } }');
    await press('Save');
    await page.getByText(/^Saved checkout, \d+ lines\.(?! It is on)/).waitFor();
    expect((await service('GET', '/store/orders')).status).toBe(418);

    const colleague = await openPage(browser());
    await colleague.goto(page.url());
    await edited(colleague, 'listOrders');
    await colleague.getByRole('checkbox', { name: 'checkout' }).click();
    await colleague.getByText('Turned off checkout.').waitFor();
    expect((await service('GET', '/pets')).status).toBe(200);
    await colleague.getByRole('button', { name: 'Duplicate' }).click();
    await colleague.getByRole('heading', { name: 'my-checkout' }).waitFor();
    await colleague.getByRole('button', { name: 'Delete my-checkout' }).click();
    await colleague.getByRole('button', { name: 'Yes, delete' }).click();
    await colleague.getByText('Deleted my-checkout.').waitFor();
    await page.getByRole('checkbox', { name: 'my-checkout' }).waitFor({ state: 'detached' });
  });

  test('adds a drafted rule to nothing but a scenario of drafted rules, and names it', async () => {
    const { page, service, control, press } = await open('exchanges/rule');
    const rules = [{ on: 'getPet', reply: { status: 410 } }];
    await control('PUT', '/scenarios/aaa', { body: { rules } });
    await control('PUT', '/scenarios/my-rules', { body: { description: 'By hand.', rules } });
    await page.reload();
    await page.getByText('to my-rules-2, which is new').waitFor();
    const field = page.getByLabel('Add it to the scenario');
    await field.fill('aaa');
    await page.getByText('to aaa, which is off and has 1 other rule').waitFor();
    await field.fill('my-rules-2');
    await page.getByLabel('Calls', { exact: true }).fill('every 3');
    await page.getByText('GET /pets gets 503, at calls 3, 6, 9 ….').waitFor();
    await page.getByLabel('Hold it back until released').check();
    await page.getByLabel('Name of the hold').fill('late');
    await page.getByText('to my-rules-2, which is new').waitFor();
    await press('Add the rule');
    await page.getByText('Added to my-rules-2').waitFor();
    const { text } = await control('GET', '/scenarios/my-rules-2');
    expect(text).toContain('hold: late');
    expect((await service('GET', '/pets/1')).status).toBe(200);
    await page.goto(`${page.url().split('#')[0]}#/exchanges/rule`);
    await page.getByText('to my-rules-2, which is on').waitFor();
    expect(await page.getByLabel('Turn it on').count()).toBe(0);
    await control('PUT', '/scenario', { body: { scenarios: [] } });
    await page.reload();
    await page.getByText('to my-rules-3, which is new').waitFor();
  });

  test('keeps a line of a rule that it cannot read, and says what is wrong', async () => {
    const { page, press, control } = await open('exchanges/rule');
    for (const name of ['Only for calls with', 'Headers']) {
      const field = page.getByLabel(name);
      await field.fill('petId=7');
      await press('Add the rule');
      await page.getByRole('alert').getByText('found "petId=7"').waitFor();
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      expect(await field.inputValue()).toBe('petId=7');
      await field.fill('');
    }
    expect((await control('GET', '/scenario')).json).toEqual({ scenarios: [] });
    await page.getByLabel('Chance').fill('5');
    await page.getByText(/^Not yet a rule\. .*a number above 0, up to 1/).waitFor();
    await page.getByLabel('Chance').fill('');
    await page.getByLabel('Reply or patch').selectOption('patch');
    await page.getByLabel('Each').fill('name: null');
    await press('Add the rule');
    await page.getByText('Added to my-rules: GET /pets gets the real reply, changed').waitFor();
    await page.getByRole('link', { name: 'Edit my-rules' }).click();
    await page.getByRole('link', { name: 'Edit rule 1' }).click();
    await expect.poll(() => page.getByLabel('Each').inputValue()).toBe('name: null');
    await page.getByLabel('Status').fill('203');
    await press('Save the rule');
    await page
      .getByText('Saved in my-rules: GET /pets gets the real reply, changed to 203')
      .waitFor();
    const { text } = await control('GET', '/scenarios/my-rules');
    expect(text.match(/patch:[\s\S]*/)?.[0]).toContain('status: 203');
  });

  test('keeps what two people typed into one scenario, and lets them choose', async () => {
    const { page, press, control } = await open('scenarios');
    await press('Edit a copy of slow');
    await editorOf(page).press('Control+End');
    await editorOf(page).pressSequentially('# mine');
    const theirs = 'description: Theirs.\nrules: []\n';
    const save = (text: string) =>
      page.evaluate<number>(
        `fetch('scenarios/my-slow', { method: 'PUT', body: ${JSON.stringify(text)}, headers: { 'content-type': 'application/yaml' } }).then((it) => it.status)`,
      );
    expect(await save(theirs)).toBe(200);
    // It moves what is below it.
    await page.getByText('Somebody else has saved this scenario').waitFor();
    await press('Save');
    await page.getByText('Somebody has changed the scenario my-slow since you read it.').waitFor();
    await page.getByText('Compare', { exact: true }).click();
    await page.locator('ins', { hasText: 'Theirs.' }).waitFor();
    await press('Keep mine');
    await page.getByText(/^Saved my-slow, \d+ lines\./).waitFor();
    expect((await control('GET', '/scenarios/my-slow')).text).toContain('# mine');
    // Nobody has typed since: the page follows.
    expect(await save(theirs)).toBe(200);
    await edited(page, 'Theirs.');
    await editorOf(page).press('Control+End');
    await editorOf(page).pressSequentially('# again');
    expect((await control('DELETE', '/scenarios/my-slow')).status).toBe(204);
    await page.getByText('The server no longer has this scenario').waitFor();
    await press('Save mine again');
    // The notice of the save before may still be there.
    const saved = async () => (await control('GET', '/scenarios/my-slow')).text;
    await expect.poll(saved).toContain('# again');
  });

  test('takes back what a switch did, which the notice says', async () => {
    const { page, press, control } = await open('scenarios');
    await page.clock.install();
    await page.getByRole('checkbox', { name: 'sold-out' }).click();
    await page.getByText(/Turned on sold-out\. Records changed: .*\d+ in inventory\./).waitFor();
    await control('POST', '/clock/advance', { body: { by: 'P1D' } });
    await page.clock.fastForward('01:00'); // whoever thinks about it can still press
    await press('Undo');
    await page.getByText('Not undone: the control API has moved the clock').waitFor();
    await press('Undo');
    await page.getByText('Undone: moved the clock by +1 day.').waitFor();
    expect((await control('GET', '/clock')).json).toMatchObject({ real: true });
    expect((await control('GET', '/status')).json).toMatchObject({ scenarios: ['sold-out'] });
    await page.getByRole('checkbox', { name: 'sold-out' }).click();
    await page.getByText('Turned off sold-out. Changed records stay as they are.').waitFor();
  });

  test('gets a list of problems that leads to their places, and hears of rules that never apply', async () => {
    const { page, press, complaints } = await open('scenarios');
    await press('Edit a copy of slow');
    const editor = editorOf(page);
    await editor.fill('rules:\n- { on: cancelOrder, reply: { status: 9 } }\n');
    const problems = page.getByRole('list', { name: 'Problems' });
    await press('Save');
    await page
      .getByRole('alert')
      .getByText(/expected a status from 200/)
      .waitFor();
    await problems
      .getByRole('button', { name: /^line 2, column 39: .*expected a status from 200/ })
      .click();
    await page.keyboard.press('Delete');
    await page.keyboard.type('409');
    await problems.waitFor({ state: 'detached' });
    await page.getByRole('alert').getByText(/./).waitFor({ state: 'detached' });
    await editor.press('Tab');
    await page.locator('a:focus').waitFor();
    await editor.fill('rules:\n- { on: "*", delay: 1 }\n- { on: getPet, delay: 2 }');
    await page.getByText('Rule 2 never applies: rule 1 takes its calls.').waitFor();
    await editor.press('Control+Enter');
    await page.getByText(/^Saved my-slow, \d+ lines\. It is on\./).waitFor();
    // The browser says that the first save failed.
    expect(complaints.filter((it) => !it.includes('400'))).toEqual([]);
  });

  test('completes keys and values from the schema, by keyboard alone', async () => {
    const { page, press, control, complaints } = await open('scenarios');
    await press('Edit a copy of slow');
    const editor = editorOf(page);
    await editor.fill('rules:\n  - ');
    const list = page.getByRole('listbox', { name: 'Completions' });
    const option = (name: string) => list.getByRole('option', { name, selected: true });
    await editor.press('Control+Space');
    await option('on:').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await editor.press('Enter');
    await option('listPets').waitFor();
    await page.route('**/scenarios', () => undefined); // typing waits for no answer
    await editor.pressSequentially('ord');
    await option('listOrders').waitFor();
    await page.unroute('**/scenarios');
    await editor.press('ArrowDown');
    await option('cancelOrder').waitFor();
    await editor.press('Tab');
    await list.waitFor({ state: 'detached' });
    // Enter goes on below the first key of the item.
    await editor.pressSequentially('\nrep');
    await editor.press('Control+Space');
    await option('reply:').click();
    await editor.pressSequentially('{ sta');
    await editor.press('Control+Space');
    await option('status:').waitFor();
    await editor.press('Escape');
    await list.waitFor({ state: 'detached' });
    await editor.pressSequentially('tus: 40');
    await editor.press('Control+Space');
    await option('401').waitFor(); // arrows move the caret until the list is there
    await editor.press('ArrowUp');
    await option('409').waitFor();
    await editor.press('Enter');
    await editor.pressSequentially(' }');
    await editor.press('Control+Enter');
    await page.getByText(/^Saved my-slow, \d+ lines\. It is on\./).waitFor();
    expect((await control('GET', '/scenarios/my-slow')).text).toBe(
      'rules:\n  - on: cancelOrder\n    reply: { status: 409 }',
    );
    expect(complaints).toEqual([]);
  });

  test('sees in a matrix what was never shown, and drafts a rule for it', async () => {
    const { page, service, press } = await open('coverage');
    await service('GET', '/pets/undefined');
    await page.getByRole('region', { name: 'Findings' }).getByRole('link').first().waitFor();
    await page.getByRole('link', { name: /^cancelOrder 409: documented shown 0 times/ }).click();
    await page.getByRole('article').getByText('/store/orders/1').first().waitFor();
    await page.getByRole('link', { name: 'Draft a rule' }).first().click();
    await page
      .getByText('DELETE /store/orders/{orderId} with orderId 1 gets 409, at call 1.')
      .waitFor();
    await page.getByRole('link', { name: 'Exchange 1' }).waitFor(); // the list is not filtered
    await press('Add the rule');
    await page.getByText('Added to my-rules').waitFor();
    const statuses = [];
    for (let call = 0; call < 2; call += 1) {
      statuses.push((await service('DELETE', '/store/orders/1')).status);
    }
    expect(statuses).toEqual([409, 204]);
  });

  test('imports a file, edits its text, and a rule in its form', async () => {
    const { page, press, control } = await open('scenarios');
    const text = 'description: Late.\n# Kept.\nrules:\n  - on: getPet\n    delay: 50\n';
    await page.getByLabel('Import files').setInputFiles({
      name: 'from a file.yaml',
      mimeType: 'text/yaml',
      buffer: Buffer.from(text),
    });
    await page.getByText('Created from-a-file.').waitFor();
    await editorOf(page).fill(text.replace('Late.', 'Later.'));
    await page.getByText('Not saved; this tab keeps it').waitFor();
    await page.route('**/scenario/check', () => undefined); // never answered
    await page.reload();
    await edited(page, 'description: Later.');
    await page.getByText('Checking…').waitFor();
    await page.unrouteAll();
    await page.getByRole('link', { name: 'Edit rule 1' }).click();
    expect(await page.getByLabel('Delay in ms').inputValue()).toBe('50');
    await page.getByLabel('Delay in ms').fill('900000');
    await press('Save the rule');
    await page
      .getByRole('alert')
      .getByText(/^Expected milliseconds/)
      .waitFor();
    expect(await page.getByLabel('Delay in ms').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Delay in ms').fill('60');
    await press('Save the rule');
    await page.getByText('Saved in from-a-file: GET /pets/{petId} answers after 60 ms').waitFor();
    const saved = (await control('GET', '/scenarios/from-a-file')).text;
    expect(saved).toContain('description: Later.');
    expect(saved).toContain('# Kept.');
    expect(saved).toContain('delay: 60');
    expect((await control('GET', '/status')).json).toMatchObject({ scenarios: ['from-a-file'] });
    await press('Undo');
    await page.getByText(/^Undone: saved the scenario from-a-file, turned on/).waitFor();
    expect((await control('GET', '/scenarios/from-a-file')).text).toContain('delay: 50');
    expect((await control('GET', '/status')).json).toMatchObject({ scenarios: [] });
  });

  test('sends a reply that was never shown, and finds the calls that got it', async () => {
    const { page, press, service, complaints } = await open('coverage/getPet-404');
    await press('Send now');
    await page.getByRole('heading', { name: 'Exchange 1', exact: true }).waitFor();
    await service('GET', '/pets/999'); // what the page has sent does not count
    await page.goto(`${page.url().split('#')[0]}#/coverage/getPet-404`);
    await page.getByRole('link', { name: /^getPet 404: .* shown 1 time$/ }).waitFor();
    await page.getByRole('link', { name: 'Calls that got it' }).click();
    await page.getByText('1 match', { exact: true }).waitFor();
    expect(complaints.filter((it) => !it.includes('404'))).toEqual([]);
  });
});
