import { request } from 'node:http';
import { expect, test } from 'vitest';
import { describeDashboard } from '../helpers/dashboard.ts';

const MARKUP = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
const BIDI = 'safe\u202egnp.exe\u0007';

describeDashboard('the page', (open) => {
  test('shows untrusted input as text, control characters included', async () => {
    const { page, service, control, complaints } = await open();
    await service('POST', '/pets', { body: { name: MARKUP + BIDI, categoryId: 1 } });
    await service('GET', `/pets/${encodeURIComponent(MARKUP)}?a=%0a`, {
      headers: { 'X-A': MARKUP },
    });
    await page.getByRole('link', { name: 'Exchange 2' }).click();
    const detail = page.getByRole('article');
    await detail.getByText('Headers', { exact: true }).first().click();
    await detail.getByText(MARKUP, { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Exchange 1' }).click();
    await detail.getByText('⟨U+202E⟩gnp.exe').first().waitFor();
    await control('PATCH', '/animals/1', { body: { name: BIDI + MARKUP } });
    await page.getByRole('link', { name: 'Store' }).click();
    await page.getByText(`safe⟨U+202E⟩gnp.exe⟨U+0007⟩${MARKUP}`).waitFor();
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('img, main script').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test('copies as curl only what can be sent to its server again', async () => {
    const { page } = await open();
    const { port, origin } = new URL(page.url());
    const sandbox = page.url().split('/')[3];
    const send = (method: string, target: string, body?: string) =>
      new Promise<unknown>((resolve, reject) => {
        const headers = {
          Authorization: `Bearer demo-key${sandbox}`,
          'Mock-Sandbox': `${sandbox}`.slice(1),
        };
        const options = { port, host: '127.0.0.1', method, path: target, headers, agent: false };
        const sent = request(options, (reply) => reply.resume().on('end', resolve));
        sent.on('error', reject).end(body);
      });
    await send('GET', '//other.example/v1/pets');
    await send('GET', 'http://other.example/v1/pets');
    await send('POST', '/v1/pets', '@/etc/hostname');
    await send('POST', '/v1/pets', 'a'.repeat(300_000));
    // The list stays as it is while an exchange is open.
    await page.getByRole('link', { name: 'Exchange 4', exact: true }).waitFor();
    await page.evaluate('navigator.clipboard.writeText = async (text) => { copied = text; }');
    const copied = async (number: number) => {
      await page.getByRole('link', { name: `Exchange ${number}`, exact: true }).click();
      await page.getByRole('heading', { name: `Exchange ${number}`, exact: true }).waitFor();
      await page.getByRole('button', { name: 'More' }).click();
      const button = page.getByRole('button', { name: 'Copy as curl' });
      if (await button.isDisabled()) {
        await page.keyboard.press('Escape');
        return undefined;
      }
      await button.click();
      await page.getByText('Copied.').waitFor();
      return page.evaluate<string>('copied');
    };
    expect(await copied(1)).toMatch(new RegExp(` ${origin}//other.example/v1/pets$`));
    expect(await copied(2)).toBeUndefined();
    expect(await copied(3)).toContain(" --data-raw '@/etc/hostname' ");
    expect(await copied(4)).toBeUndefined();
  });

  test('contacts only its server, and respects its policy', async () => {
    const { page, complaints } = await open();
    const { origin } = new URL(page.url());
    const foreign: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(`${origin}/`)) foreign.push(request.url());
    });
    for (const name of [
      'Exchanges',
      'Store',
      'Assumptions',
      'Clock',
      'Coverage',
      'Sandboxes',
      'Scenarios',
    ]) {
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
    }
    await page.getByRole('button', { name: 'Edit a copy of slow' }).click();
    const editor = page.getByRole('textbox', { name: 'Scenario in YAML' });
    await editor.waitFor();
    expect(foreign.filter((url) => !url.startsWith('data:'))).toEqual([]);
    expect(await page.context().cookies()).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
