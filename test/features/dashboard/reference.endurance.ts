import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { axeViolations } from '../../helpers/browser.ts';
import { describeDashboard } from '../../helpers/dashboard.ts';
import { findProgram, runProgram } from '../../helpers/program.ts';

/** What runs a sample of code, by its language, and the name of its file. */
const RUNNERS = {
  curl: ['sh', 'sample.sh'],
  fetch: ['node', 'sample.mjs'],
  Python: ['python3', 'sample.py'],
  Java: ['java', 'Call.java'],
} as const;

/** What says whether there is all that a sample needs, beside its program. */
const CHECKS: Readonly<Record<string, readonly [program: string, ...args: string[]]>> = {
  curl: ['curl', '--version'],
  Python: ['python3', '-c', 'import requests'],
};

describeDashboard('the reference', (open) => {
  test('names each operation, says what each reply rests on, and shows it', async () => {
    const { page, press, complaints } = await open('reference');
    await page.getByRole('link', { name: 'cancelOrder', exact: true }).click();
    await page.waitForURL('**/#/reference/cancelOrder');
    const replies = page.getByRole('region', { name: 'Replies' });
    const documented = replies.getByRole('group', { name: 'Replies, documented' });
    await documented.getByRole('button', { name: '409' }).click();
    await replies.getByText('"code": "order_already_shipped"').waitFor();
    const assumed = replies.getByRole('group', { name: 'Replies, assumed' });
    expect(await assumed.getByRole('button', { name: '409' }).count()).toBe(0);
    await assumed.getByRole('button', { name: '400' }).click();
    await replies.getByRole('link', { name: /^invalid-input=400/ }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('link', { name: 'createPet', exact: true }).click();
    await page.getByRole('article', { name: 'createPet' }).getByRole('button', { name: '201' });
    await replies.getByText(/^Schema/).click();
    await replies.getByText('"categoryId": {').first().waitFor();
    expect(complaints).toEqual([]);
    await press('Copy as curl');
  });

  test('tries an operation with its example filled in, and with ids beyond 2^53', async () => {
    const { page, press, control } = await open('reference/createPet');
    await page.getByRole('link', { name: 'Try it' }).click();
    await page.getByLabel('Body').fill('{ "name": "Rex", "categoryId": 9007199254740993 }');
    await press('Send');
    await page.getByRole('heading', { name: 'Exchange 1', exact: true }).waitFor();
    await page
      .getByRole('region', { name: 'Body of reply 1' })
      .getByText('9007199254740993')
      .waitFor();
    expect((await control('GET', '/requests/1')).json).toMatchObject({
      method: 'POST',
      status: 201,
    });
    const id = '9007199254740993';
    await control('PUT', `/animals/${id}`, { body: { name: 'Tom', categoryId: 1 } });
    await page.getByRole('link', { name: 'Reference' }).click();
    await page.getByRole('link', { name: 'getPet', exact: true }).click();
    await page.getByRole('article').getByRole('link', { name: 'Try it' }).click();
    await page
      .getByLabel('Path')
      .fill(new URL(page.url()).pathname.replace('__mock/', `v1/pets/${id}`));
    await press('Send');
    await page.getByRole('region', { name: 'Body of reply 2' }).getByText(id).waitFor();
    expect((await control('GET', '/requests/2')).json).toMatchObject({
      target: expect.stringMatching(/^\/~test-\d+\/v1\/pets\/9007199254740993$/),
      status: 200,
      key: 'demo…',
    });
  });

  test('gives samples of code that run as they are pasted', async () => {
    const { page, press, service } = await open('exchanges');
    const files: [program: string, path: string][] = [];
    for (const [language, [program, file]] of Object.entries(RUNNERS)) {
      await press(language);
      await page.getByRole('button', { name: language, pressed: true }).waitFor();
      const path = join(await mkdtemp(join(tmpdir(), 'sample-')), file);
      await writeFile(path, (await page.locator('.card pre').textContent()) ?? '');
      // Without what it needs, such as `requests`, nothing can be said about a sample.
      const [name, ...args] = CHECKS[language] ?? [program, '--version'];
      if (findProgram(name) && (await runProgram(name, args)).code === 0)
        files.push([program, path]);
    }
    const { text } = await service('GET', '/pets?limit=5');
    for (const [program, path] of files) {
      const { output } = await runProgram(program, [path]);
      expect(output).toContain('200');
      expect([path, output]).toEqual([path, expect.stringContaining(text)]);
    }
    expect(files.length).toBeGreaterThan(1);
  });
});
