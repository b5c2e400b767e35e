import { expect, test } from 'vitest';
import { DOCS, readPage } from '../helpers/page.ts';
import { stepsOf, takeWalk } from '../helpers/walk.ts';

const WALKS = ['README.md', ...DOCS].filter((page) => stepsOf(readPage(page)).length > 0);

test.concurrent.each(WALKS)('every command of %s does what the page says', (page) =>
  takeWalk(stepsOf(readPage(page))),
);

test('pages with commands are found', () => {
  expect(WALKS).toEqual(expect.arrayContaining(['README.md', 'docs/control-api.md']));
});
