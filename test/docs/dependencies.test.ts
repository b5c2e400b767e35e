import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/package.ts';
import { readPage, section, tableRows } from '../helpers/page.ts';

const PAGE = readPage('docs/dependencies.md');
const BUNDLED = rowsOf('Bundled');

function rowsOf(title: string): string[][] {
  return tableRows(section(PAGE, title), 'package').map((cells) =>
    cells.map((cell) => cell.replaceAll('`', '')),
  );
}

function namesIn(title: string): string[] {
  return rowsOf(title).flatMap(([names = '', why]) => (why ? names.split(', ') : []));
}

test('the page lists the version and licence of every bundled package, and no other', () => {
  const licences = readFileSync(join(packageRoot, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
  const built = [...licences.matchAll(/^-{80}\n\n(\S+) (\S+) \((.+)\)$/gm)].map(
    ([, name, version, licence]) => `${name} ${version} ${licence}`,
  );
  const listed = BUNDLED.map(([name, version, licence]) => `${name} ${version} ${licence}`);
  expect(built).not.toEqual([]);
  expect(listed.sort()).toEqual(built.sort());
});

test('the page gives a reason for every dependency of package.json, and for no other', () => {
  const { devDependencies } = JSON.parse(readPage('package.json'));
  const direct = BUNDLED.filter(([, , , why]) => !why?.startsWith('Used by '));
  const listed = [...direct.map(([name]) => name), ...namesIn('In development')];
  expect(listed.sort()).toEqual(Object.keys(devDependencies).sort());
});

test('the page gives a reason for every package that the endurance tests install', () => {
  const { dependencies } = JSON.parse(readPage('test/tools/package.json'));
  expect(namesIn('For the endurance tests').sort()).toEqual(Object.keys(dependencies).sort());
});
