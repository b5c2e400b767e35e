import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../../src/server/files.ts';

const DIST = join(packageRoot, 'dist');

const IMPORT = /\b(?:from|import) ?(\(?)["'`](\.[^"'`]+)["'`]/g;

/** The bytes that an import of a file loads at once, and all files that it can ever load. */
function measure(entry: string) {
  const atOnce = new Set([entry]);
  const all = new Set([entry]);
  let bytes = 0;
  for (const file of all) {
    const code = readFileSync(join(DIST, file), 'utf8');
    expect(code, file).not.toMatch(/["'`]node:|\beval\(|new Function\(|\brequire\(/);
    if (atOnce.has(file)) bytes += Buffer.byteLength(code);
    for (const [, isLater, path = ''] of code.matchAll(IMPORT)) {
      const imported = join(dirname(file), path);
      all.add(imported);
      if (isLater === '' && atOnce.has(file)) atOnce.add(imported);
    }
  }
  return { bytes, all: [...all] };
}

test('the entry without Node has at most 220 kB, and nothing in it needs Node or eval', () => {
  const { bytes, all } = measure('fetch.js');
  expect(bytes).toBeLessThan(220_000);
  expect(all.length).toBeGreaterThan(4);
});
