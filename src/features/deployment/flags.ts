import { INT64, ORDER_STATUSES } from '../../core/contract/records.ts';
import { parseInt64 } from '../../core/json.ts';
import type { object } from '../../core/shape/objects.ts';
import {
  count,
  FILE,
  KEYS,
  many,
  milliseconds,
  OUTPUT,
  one,
  optionFor,
  SWITCH,
} from '../../core/shape/option-kinds.ts';
import { choice, scalar, type ValueOf } from '../../core/shape/shapes.ts';
import { joinWords } from '../../core/words.ts';
import { DEPLOYMENT_DEFAULTS, DEPLOYMENT_OPTIONS } from './options.ts';

const forCheck = optionFor('check');
const forRecord = optionFor('record');
const forCallers = optionFor('check', 'record');

const ID = scalar(INT64.expected, { type: 'string' }, (value) => parseInt64(String(value)));

const ORDER_IDS = many('ID', ID);

/** The flags of `check` and `record`. */
export const DEPLOYMENT_FLAGS = {
  Deployment: {
    rate: forCallers(count(1, 10_000), 'Maximum requests per second.', {
      default: DEPLOYMENT_DEFAULTS.rate,
    }),
    writes: forCheck(SWITCH, 'Also send POST, PATCH and DELETE: creates animals and sets stock.'),
    cancel: forCheck(ORDER_IDS, 'Pending order to cancel, with --writes.'),
    shipped: forCheck(ORDER_IDS, 'Shipped order to try to cancel, with --writes.'),
    cancelled: forCheck(ORDER_IDS, 'Cancelled order to cancel again, with --writes.'),
    stock: forCheck(one('ID', ID), 'Animal whose stock may change, with --writes; it stays at 5.'),
    patience: forCheck(
      milliseconds(0, 600_000),
      'Milliseconds that a read may be behind a write, with --writes.',
      { default: DEPLOYMENT_DEFAULTS.patience },
    ),
    dryRun: forCheck(SWITCH, 'Print the requests and their purpose without sending them.'),
    save: forCheck(OUTPUT, 'Write a config file that makes the mock answer the same.'),
    against: forCheck(FILE, 'Compare with a --save or --json file; exit with 3 after a change.'),
    allowUnsettled: forCheck(
      SWITCH,
      'Pass if few assumptions are settled, fewer than in the --against file, or some have none of the options.',
    ),
    unknownStatus: forRecord(
      one('STATUS', choice(ORDER_STATUSES)),
      `Status to record if an order shows none: ${joinWords(ORDER_STATUSES, 'or')}.`,
      { default: DEPLOYMENT_DEFAULTS.unknownStatus },
    ),
    anonymise: forRecord(SWITCH, 'Replace the names of animals; equal names stay equal.'),
    diff: forRecord(SWITCH, 'Show what changed since the file was recorded, and overwrite it.'),
  },
  Keys: {
    deploymentKey: forCallers(
      KEYS,
      'Key of the deployment, also in PETSTORE_MOCK_DEPLOYMENT_KEY.',
      {
        spelling: 'key',
        variable: 'PETSTORE_MOCK_DEPLOYMENT_KEY',
      },
    ),
  },
};

const ROWS = {
  ...DEPLOYMENT_FLAGS.Deployment,
  ...DEPLOYMENT_FLAGS.Keys,
  ...DEPLOYMENT_OPTIONS.Deployment,
};

/** The flags that `check` and `record` read, including general flags of the program. */
export interface DeploymentFlags extends ValueOf<ReturnType<typeof object<typeof ROWS>>> {
  readonly timeout?: number | undefined;
  readonly yes?: boolean | undefined;
  readonly json?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly output?: string | undefined;
  readonly readOnlyKey?: readonly string[] | undefined;
  readonly invalidKey?: readonly string[] | undefined;
}
