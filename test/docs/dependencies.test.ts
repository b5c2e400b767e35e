import { expect, test } from 'vitest';
import { readPage, section, tableRows } from '../helpers/page.ts';

const PAGE = readPage('docs/dependencies.md');

/** The packages that the table of a section gives a reason for. */
function packagesIn(title: string): string[] {
  return tableRows(section(PAGE, title), 'package').flatMap(([names = '', why]) =>
    why ? names.replaceAll('`', '').split(', ') : [],
  );
}

test('the page gives a reason for every dependency of package.json, and for no other', () => {
  const { devDependencies } = JSON.parse(readPage('package.json'));
  const listed = [...packagesIn('Bundled'), ...packagesIn('In development')];
  expect(listed.sort()).toEqual(Object.keys(devDependencies).sort());
});
