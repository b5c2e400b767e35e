import { ORDER_STATUSES } from '../contract/records.ts';
import { DEFAULTS } from '../defaults.ts';
import { BASE_URL, KEY } from '../shape/deployment-shapes.ts';
import { choice } from '../shape/shapes.ts';
import { joinWords } from '../words.ts';
import {
  ALLOWED,
  FAIL_ON,
  FAILING_KINDS,
  integer,
  list,
  ORDER_ID,
  one,
  REPORT_FILE,
  SHARE,
  text,
  toggle,
  words,
} from './flag-shapes.ts';

/** The commands that send requests to a deployment. */
export const CALLERS = ['check', 'record'] as const;

/** The commands that start a server that can stand in front of a deployment. */
const FRONTS = ['serve', 'exec'] as const;

/** The status that `record` gives to orders that show none. */
export const DEFAULT_UNKNOWN_STATUS = 'pending';

/** The flags of those commands alone. */
export const DEPLOYMENT_FLAGS = {
  upstream: one(
    BASE_URL,
    'URL',
    FRONTS,
    'Pass requests on to the deployment with this base URL, and return its replies.',
  ),
  upstreamKey: one(
    KEY,
    'KEY',
    FRONTS,
    "Send this API key to the deployment in place of the client's.",
  ),
  upstreamTimeout: integer(
    'MS',
    [1, 600_000],
    FRONTS,
    'Milliseconds that the deployment may be silent before the client gets 504.',
    { default: DEFAULTS.upstreamTimeout },
  ),
  cacert: text('FILE', [...FRONTS, ...CALLERS], 'Also trust this certificate, in PEM.'),
  rate: integer('N', [1, 10_000], CALLERS, 'Send at most this many requests a second.', {
    default: DEFAULTS.deploymentRate,
  }),
  yes: toggle(
    [...FRONTS, ...CALLERS],
    'Do not ask for consent before sending requests to another machine.',
  ),
  writes: toggle(
    ['check'],
    'Also send POST, PATCH and DELETE: create animals and set their stock.',
  ),
  cancel: list(ORDER_ID, 'ID', ['check'], 'Pending order to cancel, with --writes. Repeatable.'),
  shipped: list(
    ORDER_ID,
    'ID',
    ['check'],
    'Shipped order to try to cancel, with --writes. Repeatable.',
  ),
  cancelled: list(
    ORDER_ID,
    'ID',
    ['check'],
    'Cancelled order to cancel again, with --writes. Repeatable.',
  ),
  dryRun: toggle(['check'], 'Print the requests and their purpose without sending them.'),
  save: text('FILE', ['check'], 'Write a config file that makes the mock answer the same.', {
    writes: true,
  }),
  against: text(
    'FILE',
    ['check'],
    'Compare with an earlier --save or --json file; exit with 3 if something changed.',
  ),
  allowUnsettled: toggle(
    ['check'],
    'Do not exit with 3 if this check leaves open what the --against file has settled.',
  ),
  unknownStatus: one(
    choice(ORDER_STATUSES),
    'STATUS',
    ['record'],
    `Status to record if an order shows none: ${joinWords(ORDER_STATUSES, 'or')}.`,
    { default: DEFAULT_UNKNOWN_STATUS },
  ),
  anonymise: toggle(['record'], 'Replace the names of animals; equal names stay equal.'),
  diff: toggle(['record'], 'Show what changed since the file was recorded, and overwrite it.'),
};

/** The flags of the commands that tell what a client was shown and did. */
export const EVIDENCE_FLAGS = {
  coverage: list(
    REPORT_FILE,
    'FILE',
    ['serve', 'exec'],
    'Write coverage to this file at exit: .json, .html or .xml (JUnit). Repeatable.',
    { writes: true },
  ),
  requireCoverage: one(
    SHARE,
    'N%',
    ['exec'],
    'Exit with 3 if a smaller share of the documented replies was shown; documented means 100%.',
  ),
  failOn: words(
    FAIL_ON,
    'KINDS',
    ['exec'],
    `Exit with 3 on these, separated by commas: ${joinWords(FAILING_KINDS, 'or')}. Repeatable.`,
  ),
  jobs: integer(
    'N',
    [1, 1000],
    ['sweep'],
    'Run this many at a time; by default one for each processor.',
  ),
  all: toggle(['sweep'], 'Also run the assumptions that the command did not touch.'),
  allow: words(
    ALLOWED,
    'ID=OPTION',
    ['sweep'],
    'Expected failure, as ID=OPTION; does not affect the exit code. Repeatable.',
  ),
  junit: text('FILE', ['sweep', 'check'], 'Also write the result as JUnit XML.', { writes: true }),
  html: text('FILE', ['sweep', 'check'], 'Also write the result as a web page.', { writes: true }),
};
