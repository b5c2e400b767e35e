// Takes the screenshot in docs/coverage.md: the coverage report of the client in README.md. Needs
// Chromium:
//
//   npm run build && node scripts/picture.mjs

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { env, execPath } from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { CHROMIUM_FLAGS } from './chromium.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const picture = join(root, 'docs/images/coverage.png');
const SIZE = '1000,1000';

const folder = mkdtempSync(join(tmpdir(), 'picture-'));
try {
  const page = join(folder, 'seen.html');
  const main = join(root, 'dist/cli/main.js');
  const client = join(folder, 'client-test.mjs');
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const [, program = ''] = /^```js client-test\.mjs\n(.*?)^```/ms.exec(readme) ?? [];
  writeFileSync(client, program);
  const words = [main, 'exec', '--coverage', page, '--', execPath, client];
  execFileSync(execPath, words, { stdio: 'inherit' });
  mkdirSync(dirname(picture), { recursive: true });
  const flags = [
    '--headless',
    ...CHROMIUM_FLAGS,
    '--hide-scrollbars',
    `--user-data-dir=${join(folder, 'chromium')}`,
    `--window-size=${SIZE}`,
    `--screenshot=${picture}`,
  ];
  const browser = env.CHROMIUM ?? 'chromium';
  execFileSync(browser, [...flags, `${pathToFileURL(page)}#/coverage/cancelOrder-409`], {
    stdio: 'ignore',
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
