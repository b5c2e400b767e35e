import { expect, test } from 'vitest';
import { OLDEST, requireVersion } from '../../src/server/require-version.ts';
import { readPage, section, tableRows } from '../helpers/page.ts';

/** The packages that the table of a section gives a reason for. */
function packagesIn(page: string, title: string): string[] {
  return tableRows(section(readPage(page), title), 'package').flatMap(([names = '', why]) =>
    why ? names.replaceAll('`', '').split(', ') : [],
  );
}

test('the docs give a reason for every dependency of package.json, and for no other', () => {
  const { devDependencies } = JSON.parse(readPage('package.json'));
  const listed = [
    ...packagesIn('docs/design.md', 'Bundled'),
    ...packagesIn('CONTRIBUTING.md', 'Tools'),
  ];
  expect(listed.sort()).toEqual(Object.keys(devDependencies).sort());
});

test('README.md has the oldest versions that the package accepts, as npm has that of Node', () => {
  const install = section(readPage('README.md'), 'Install');
  const rows = tableRows(install, 'Node.js');
  expect(install).toMatch(new RegExp(`\\| ${Object.keys(OLDEST).join(' +\\| ')} +\\|`));
  expect(rows).toEqual([Object.values(OLDEST)]);
  expect(JSON.parse(readPage('package.json')).engines.node).toBe(`>=${OLDEST['Node.js']}`);
});

test.each([
  ['20.19.0', true],
  ['21.0.0', true],
  ['20.18.9', false],
  ['9.99.0', false],
  [undefined, true],
])('Node.js %s is accepted: %s', (found, isAccepted) => {
  const check = () => requireVersion('Node.js', found);
  if (isAccepted) expect(check).not.toThrow();
  else expect(check).toThrow(`petstore-mock needs Node.js 20.19 or later, found ${found}`);
});
