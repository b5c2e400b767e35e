import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FEATURES } from '../../src/features.ts';
import { packageRoot } from '../../src/server/files.ts';
import { listOptionNames } from '../../src/server/options.ts';

test('every option has somebody who reads it', () => {
  const folder = join(packageRoot, 'src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const sources = files
    .filter((file) => /^(?:core|server|features)\b.*\.ts$/.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
  /** `options.NAME`, or NAME among what is taken out of the options, as a variable or as a parameter. */
  const reads = (name: string) =>
    new RegExp(
      String.raw`\b(?:options|given)\.${name}\b|\{[^{}]*\b${name}\b[^{}]*\}(?: = (?:[\w#]+\.)*(?:options|told);|: (?:\w*Options|StoreChoice)\b)`,
    );
  const names = listOptionNames(FEATURES);
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter((name) => !reads(name).test(sources))).toEqual([]);
});
