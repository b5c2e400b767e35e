import { listed } from '../../words.ts';
import { integer, list, one, TEXT, text, toggle, words } from './flag-shape.ts';
import * as values from './flag-values.ts';

/** The flags of the commands that tell what a client was shown and did. */
export const EVIDENCE_FLAGS = {
  coverage: list(
    TEXT,
    'FILE',
    ['serve', 'exec'],
    'Write coverage to this file at exit: .json, .html or .xml (JUnit). Repeatable.',
    { writes: true },
  ),
  requireCoverage: one(
    values.SHARE,
    'N%',
    ['exec'],
    'Exit with 3 if a smaller share of the documented replies was shown; documented means 100%.',
  ),
  failOn: words(
    values.FAIL_ON,
    'KINDS',
    ['exec'],
    `Exit with 3 on these, separated by commas: ${listed(values.FAILING_KINDS, 'or')}. Repeatable.`,
  ),
  jobs: integer(
    'N',
    [1, 1000],
    ['sweep'],
    'Run this many at a time; by default one for each processor.',
  ),
  all: toggle(['sweep'], 'Also run the assumptions that the command did not touch.'),
  allow: words(
    values.ALLOWED,
    'ID=OPTION',
    ['sweep'],
    'Expected failure, as ID=OPTION; does not affect the exit code. Repeatable.',
  ),
  junit: text('FILE', ['sweep', 'check'], 'Also write the result as JUnit XML.', { writes: true }),
  html: text('FILE', ['sweep', 'check'], 'Also write the result as a web page.', { writes: true }),
};
