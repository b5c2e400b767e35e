import { extname } from 'node:path';
import { MOCK_VARIABLES } from '../client/mock-variables.ts';
import { ASSIGNMENTS, readAssignments } from '../core/service/mock-options.ts';
import {
  count,
  FILE,
  many,
  OUTPUT,
  one,
  optionFor,
  SWITCH,
  textThat,
  words,
} from '../core/shape/option-kinds.ts';
import { choice, convert, list, text } from '../core/shape/shapes.ts';
import { isRowName, rowNames } from '../core/tables.ts';
import { describe, joinWords, suggest } from '../core/words.ts';
import { FAIL_ON, FAILING_KINDS } from '../terminal/fail-on.ts';
import { REPORT_FORMATS } from './reports.ts';
import { FAULTS_BY_PLACE, SWEEP_FAULTS } from './sweep-plan.ts';
import { CALL_PARTS } from './transcript.ts';

const REPORT_NAMES = joinWords(Object.keys(REPORT_FORMATS), 'or');

const REPORT_FILES = {
  ...many(
    'FILE',
    textThat(`a name that ends in ${REPORT_NAMES}`, (name) => extname(name) in REPORT_FORMATS),
  ),
  writes: true,
} as const;

/** A share in percent. Without the sign only whole numbers: 0.8 could mean 80%. */
const SHARE = convert(
  text(
    'a percentage from 0% to 100%, or documented',
    /^(?:documented|100%?|\d{1,2}%?|\d{1,2}\.\d+%)$/,
    {},
  ),
  (value) => (value === 'documented' ? 100 : Number.parseFloat(value)),
);

/** What a variable of the command can hold, and the variable of ours that always does. */
export const RUN_VALUES = {
  url: MOCK_VARIABLES.url,
  key: MOCK_VARIABLES.key,
  control: MOCK_VARIABLES.controlUrl,
} as const;

const OWN_VARIABLE = convert(text(), (given, at, report) => {
  const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(given) ?? [];
  if (isRowName(RUN_VALUES, value)) return { name, value };
  const names = rowNames(RUN_VALUES);
  const expected = joinWords(
    names.map((known) => `NAME=${known}`),
    'or',
  );
  return report({ at, expected, found: `${describe(given)}${suggest(value, names)}` });
});

/** Options as ID=OPTION, of which an ID can have several, or faults as OPERATION=FAULT. */
const ALLOWED = words(
  'ID=OPTION',
  convert(ASSIGNMENTS, (texts, at, report) =>
    texts.every((one) => FAULTS_BY_PLACE.has(one) || readAssignments([one], at, report))
      ? texts
      : undefined,
  ),
);

const forExec = optionFor('exec');
const forGates = optionFor('exec', 'gate');
const forRunners = optionFor('exec', 'sweep');
const forSweep = optionFor('sweep');

/** What the command that `exec` and `sweep` run gets. */
export const COMMAND_FLAGS = {
  env: forRunners(
    many('NAME=WHAT', OWN_VARIABLE),
    `Set this variable of the command to what the server has: ${joinWords(rowNames(RUN_VALUES), 'or')}.`,
  ),
};

/** What `exec` and `sweep` do with it, and write about it. */
export const REPORT_FLAGS = {
  coverage: optionFor(...(['serve', 'exec', 'sweep', 'gate'] as const))(
    REPORT_FILES,
    `Write coverage at exit, as ${REPORT_NAMES} (JUnit).`,
  ),
  har: forGates(OUTPUT, 'Write the exchanges that the journals still have as HAR 1.2.'),
  calls: forExec(OUTPUT, 'Write what the client sent as text, to compare runs.'),
  callsAgainst: forExec(FILE, 'Exit with 3 if the client sent other calls than in this file.', {
    spelling: 'against',
  }),
  callsParts: forExec(
    words('PARTS', list(choice(CALL_PARTS), { min: 1 })),
    `Which parts of calls count in --calls and --against: ${joinWords(CALL_PARTS, 'or')}. By default all, or those of the file.`,
  ),
  requireCoverage: forGates(
    one('N%', SHARE),
    'Exit with 3 if a smaller share of the documented replies was shown; documented means 100%.',
  ),
  failOn: forGates(
    words('KINDS', FAIL_ON),
    `Exit with 3 on these: ${joinWords(FAILING_KINDS, 'or')}; findings are any of the others.`,
  ),
  allowNoCalls: optionFor(...(['exec', 'sweep', 'gate'] as const))(
    SWITCH,
    'Pass even if no client makes a call.',
  ),
  jobs: forSweep(count(1, 1000), 'Run this many at a time; by default one for each processor.'),
  all: forSweep(SWITCH, 'Also run the assumptions that the command did not touch.'),
  faults: forSweep(
    words('FAULTS', list(choice(SWEEP_FAULTS), { min: 1 })),
    `Instead, let one call fail in each run: ${joinWords(SWEEP_FAULTS, 'or')}; without a value, each of them.`,
    { bare: SWEEP_FAULTS.join() },
  ),
  maxRuns: forSweep(count(1, 10_000), 'Run at most this many.'),
  allow: forSweep(
    ALLOWED,
    'Expected failure, as ID=OPTION or OPERATION=FAULT; does not affect the exit code.',
  ),
};
