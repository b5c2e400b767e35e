import { test } from 'vitest';
import { blocks, DOCS, readPage } from '../helpers/page.ts';
import { expectPrints, stepsOf, takeWalk } from '../helpers/walk.ts';

const WALKS = ['README.md', 'SKILL.md', ...DOCS].filter(
  (page) => stepsOf(readPage(page)).length > 0,
);

test.concurrent.each(WALKS)('every command of %s does what the page says', (page) =>
  takeWalk(stepsOf(readPage(page))),
);

const PROGRAMS = ['README.md', ...DOCS].flatMap((page) =>
  blocks(readPage(page), 'js').map((program, index) => ({ page, number: index + 1, program })),
);

test.concurrent.each(PROGRAMS)('program $number of $page prints what it says', ({ program }) =>
  expectPrints(program),
);
