import { expect, test } from 'vitest';
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
    ...packagesIn('docs/dependencies.md', 'Bundled'),
    ...packagesIn('CONTRIBUTING.md', 'Tools'),
  ];
  expect(listed.sort()).toEqual(Object.keys(devDependencies).sort());
});
