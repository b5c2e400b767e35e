import { stat } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { startServer } from '../../../src/index.ts';
import { axeViolations, openPage } from '../../helpers/browser.ts';
import { describeDashboard, openDashboard } from '../../helpers/dashboard.ts';
import { serverFor } from '../../helpers/deployment.ts';
import { freePort, TOKEN_HOST } from '../../helpers/host.ts';

/** In bytes. */
const FIRST_VIEW = 65_000;

describeDashboard('the page', (open, browser) => {
  test('truncates long texts, and saves them in full on request', async () => {
    const { page, control, service } = await open('store/animals');
    await control('PATCH', '/animals/1', { body: { name: 'x'.repeat(60_000) } });
    await page.getByText(`${'x'.repeat(120)}…`).waitFor();
    const nested = '['.repeat(90) + ']'.repeat(90); // some 16,000 characters on the page
    await service('POST', '/pets', { body: `[${Array(70).fill(nested)}]` });
    await page.getByRole('link', { name: 'Exchanges' }).click();
    await page.getByRole('link', { name: 'Exchange 1' }).click();
    const body = page.getByRole('region', { name: /^Body/ }).first();
    await expect.poll(async () => (await body.textContent())?.length).toBe(100_000);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    expect((await stat((await (await saved).path()) ?? '')).size).toBeGreaterThan(1_000_000);
  });

  test('links the findings to the latest calls, which the journal still has', async () => {
    const server = await serverFor({ journal: 2 });
    const { page, service, complaints } = await openDashboard(browser(), server, 'coverage');
    for (const id of [1, 2, 3]) await service('GET', `/pets/${id}`);
    const findings = page.getByRole('region', { name: 'Findings' });
    await findings.getByRole('link', { name: 'Exchange 3' }).click();
    await page.getByRole('heading', { name: 'Exchange 3', exact: true }).waitFor();
    await page.goBack();
    await findings.getByRole('link', { name: 'Exchange 2' }).waitFor();
    expect(await findings.getByRole('link', { name: 'Exchange 1' }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test('asks for the token of a server off loopback, and forgets it with the tab', async () => {
    const far = await serverFor({ host: TOKEN_HOST, controlToken: 'right-token' });
    const { page } = await openDashboard(browser(), far);
    const token = page.getByLabel('Token', { exact: true });
    await token.fill('wrong-token');
    await page.getByRole('button', { name: 'Use this token' }).click();
    await page.getByText('The server refused this token.').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await token.fill('right-token');
    await page.getByRole('button', { name: 'Use this token' }).click();
    await page.getByText('No exchanges yet').waitFor();
    await fetch(
      `${far.url.replace('/v1', new URL(page.url()).pathname.slice(0, -'/__mock/'.length))}/v1/pets`,
    );
    await page.getByRole('link', { name: 'Exchange 1' }).waitFor();
    expect(page.url()).not.toContain('token');
    expect(await page.evaluate('[localStorage.length, document.cookie]')).toEqual([0, '']);
    const other = await openPage(browser());
    await other.goto(page.url());
    await other.getByLabel('Token', { exact: true }).waitFor();
  });

  test('reports that the server is lost, and reconnects', async () => {
    const first = await startServer({ port: await freePort() });
    const { page } = await openDashboard(browser(), first);
    await page.getByText('No exchanges yet').waitFor();
    await first.close();
    await page.getByText('The server does not answer.').waitFor();
    const second = await serverFor({ port: Number(new URL(first.url).port) });
    await page.getByText('The server does not answer.').waitFor({ state: 'detached' });
    const { pathname } = new URL(page.url());
    await fetch(`${second.url.replace('/v1', pathname.replace('/__mock/', '/v1'))}/pets`);
    await page.getByRole('link', { name: 'Exchange 1' }).waitFor();
  });

  test('loads at most 65 kB at first view', async () => {
    const { page } = await open();
    await page.getByText('No exchanges yet').waitFor();
    const loaded = await page.evaluate<[string, number][]>(
      `performance.getEntries()
        .filter(({ name, encodedBodySize }) => encodedBodySize > 0 && /__mock\\/(?:#|$|assets\\/)/.test(name))
        .map(({ name, encodedBodySize }) => [name, encodedBodySize])`,
    );
    expect(loaded.length).toBeGreaterThanOrEqual(3);
    expect(loaded.reduce((sum, [, size]) => sum + size, 0)).toBeLessThan(FIRST_VIEW);
  });
});
