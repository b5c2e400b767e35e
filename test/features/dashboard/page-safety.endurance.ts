import { expect, test } from 'vitest';
import { describeDashboard } from '../../helpers/dashboard.ts';

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
    await detail.getByText(`x-a: ${MARKUP}`).waitFor();
    await page.getByRole('link', { name: 'Exchange 1' }).click();
    await detail.getByText('⟨U+202E⟩gnp.exe').first().waitFor();
    await control('PATCH', '/animals/1', { body: { name: BIDI + MARKUP } });
    await page.getByRole('link', { name: 'Store' }).click();
    await page.getByText(`safe⟨U+202E⟩gnp.exe⟨U+0007⟩${MARKUP}`).waitFor();
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('img, main script').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test('contacts only its server, and respects its policy', async () => {
    const { page, complaints } = await open();
    const { origin } = new URL(page.url());
    const foreign: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(`${origin}/`)) foreign.push(request.url());
    });
    const views = page.getByRole('navigation', { name: 'Views' }).getByRole('link');
    await views.first().waitFor();
    for (const link of await views.all()) {
      await link.click();
      await page
        .getByRole('heading', { level: 1, name: (await link.textContent()) ?? '' })
        .waitFor();
    }
    await page.getByRole('link', { name: 'Scenarios', exact: true }).click();
    await page.getByRole('button', { name: 'Edit a copy of slow' }).click();
    const editor = page.getByRole('textbox', { name: 'Scenario in YAML' });
    await editor.waitFor();
    expect(foreign.filter((url) => !url.startsWith('data:'))).toEqual([]);
    expect(await page.context().cookies()).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
