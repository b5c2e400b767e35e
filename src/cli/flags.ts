import { DEFAULT_URL } from '../contract/base-url.ts';
import { ORDER_STATUSES } from '../contract/records.ts';
import { DEFAULTS } from '../defaults.ts';
import { KEEPABLE } from '../sandbox/state.ts';
import { object } from '../shape/objects.ts';
import { BASE_URL, choice, KEY, type ValueOf } from '../shape/shapes.ts';
import { joinWords } from '../words.ts';
import { COMMAND_NAMES, type CommandName } from './command-table.ts';
import {
  ALLOWED,
  FAIL_ON,
  FAILING_KINDS,
  type FlagShape,
  flagsOn,
  KEPT,
  ORDER_ID,
  REPORT_FILE,
  SERVER_URL,
  SHARE,
} from './flag-shapes.ts';
import { CALLERS, ofCtl, ofServeAndExec, SERVER_FLAGS, SERVERS } from './server-flags.ts';

const ofAll = flagsOn(...COMMAND_NAMES);
const ofExec = flagsOn('exec');
const ofSweep = flagsOn('sweep');
const ofCheck = flagsOn('check');
const ofRecord = flagsOn('record');
const ofCallers = flagsOn(...CALLERS);
const ofForwarders = flagsOn('serve', 'exec', ...CALLERS);
const ofReporters = flagsOn('sweep', 'check');
const ofResponses = flagsOn('responses');
const ofOpenapi = flagsOn('openapi');
const ofRecorders = flagsOn('generate', 'record');

/** The status that `record` gives to orders that show none. */
export const DEFAULT_UNKNOWN_STATUS = 'pending';

/** All flags under the headings of the help. */
const FLAG_GROUPS = {
  ...SERVER_FLAGS,
  Deployment: {
    upstream: ofServeAndExec.one(
      BASE_URL,
      'URL',
      'Pass requests on to the deployment with this base URL, and return its replies.',
    ),
    upstreamKey: ofServeAndExec.one(
      KEY,
      'KEY',
      "Send this API key to the deployment in place of the client's.",
    ),
    upstreamTimeout: ofServeAndExec.integer(
      'MS',
      [1, 600_000],
      'Milliseconds that the deployment may be silent before the client gets 504.',
      { default: DEFAULTS.upstreamTimeout },
    ),
    cacert: ofForwarders.file('Also trust this certificate, in PEM.'),
    rate: ofCallers.integer('N', [1, 10_000], 'Send at most this many requests a second.', {
      default: DEFAULTS.deploymentRate,
    }),
    yes: ofForwarders.toggle('Do not ask for consent before sending requests to another machine.'),
    writes: ofCheck.toggle('Also send POST, PATCH and DELETE: create animals and set their stock.'),
    cancel: ofCheck.list(ORDER_ID, 'ID', 'Pending order to cancel, with --writes. Repeatable.'),
    shipped: ofCheck.list(
      ORDER_ID,
      'ID',
      'Shipped order to try to cancel, with --writes. Repeatable.',
    ),
    cancelled: ofCheck.list(
      ORDER_ID,
      'ID',
      'Cancelled order to cancel again, with --writes. Repeatable.',
    ),
    dryRun: ofCheck.toggle('Print the requests and their purpose without sending them.'),
    save: ofCheck.output('Write a config file that makes the mock answer the same.'),
    against: ofCheck.file(
      'Compare with an earlier --save or --json file; exit with 3 if something changed.',
    ),
    allowUnsettled: ofCheck.toggle(
      'Do not exit with 3 if this check leaves open what the --against file has settled.',
    ),
    unknownStatus: ofRecord.one(
      choice(ORDER_STATUSES),
      'STATUS',
      `Status to record if an order shows none: ${joinWords(ORDER_STATUSES, 'or')}.`,
      { default: DEFAULT_UNKNOWN_STATUS },
    ),
    anonymise: ofRecord.toggle('Replace the names of animals; equal names stay equal.'),
    diff: ofRecord.toggle('Show what changed since the file was recorded, and overwrite it.'),
  },
  Output: {
    log: ofServeAndExec.one(
      choice(['pretty', 'json', 'off']),
      'FORMAT',
      'Log format: pretty, json or off. Default: pretty on a terminal, else json.',
      { helpOn: { exec: 'Log to standard error, as pretty or json.' } },
    ),
    json: flagsOn(
      'assumptions',
      'responses',
      'scenarios',
      'validate',
      'sweep',
      'ctl',
      'check',
      'record',
    ).toggle('Print JSON instead of a table.'),
    curl: ofResponses.toggle('Print curl commands to copy.'),
    check: ofResponses.toggle('Request each reply from a new server; exit with 1 if any differs.'),
    http: ofResponses.output('Write the requests as an .http file.'),
    postman: ofResponses.output('Write the requests as a Postman 2.1 collection.'),
    serverUrl: flagsOn('openapi', 'responses').one(
      SERVER_URL,
      'URL',
      'Base URL of the service to write into the output.',
      { default: DEFAULT_URL },
    ),
    documented: ofOpenapi.toggle(
      'Leave out what is assumed, to generate a client of the real service.',
    ),
    output: ofRecorders.output('Write to this file instead of standard output.', {
      helpOn: { record: 'Fixture to write.' },
    }),
    force: ofRecorders.toggle('Overwrite an existing file.'),
  },
  Evidence: {
    coverage: ofServeAndExec.list(
      REPORT_FILE,
      'FILE',
      'Write coverage to this file at exit: .json, .html or .xml (JUnit). Repeatable.',
      { writes: true },
    ),
    requireCoverage: ofExec.one(
      SHARE,
      'N%',
      'Exit with 3 if a smaller share of the documented replies was shown; documented means 100%.',
    ),
    failOn: ofExec.words(
      FAIL_ON,
      'KINDS',
      `Exit with 3 on these, separated by commas: ${joinWords(FAILING_KINDS, 'or')}. Repeatable.`,
    ),
    jobs: ofSweep.integer(
      'N',
      [1, 1000],
      'Run this many at a time; by default one for each processor.',
    ),
    all: ofSweep.toggle('Also run the assumptions that the command did not touch.'),
    allow: ofSweep.words(
      ALLOWED,
      'ID=OPTION',
      'Expected failure, as ID=OPTION; does not affect the exit code. Repeatable.',
    ),
    junit: ofReporters.output('Also write the result as JUnit XML.'),
    html: ofReporters.output('Also write the result as a web page.'),
  },
  Control: {
    none: ofCtl.toggle('Deactivate all scenarios (use).'),
    keep: ofCtl.words(
      KEPT,
      'WHAT',
      `Keep ${joinWords(KEEPABLE, 'or')} (reset); your own scenarios if the flag is left out. Repeatable.`,
    ),
    follow: ofCtl.toggle('Print exchanges as they happen (requests).'),
  },
  Other: {
    config: flagsOn(...SERVERS, 'assumptions', 'generate', 'health').file(
      'JSON file with flags by name.',
    ),
    help: ofAll.toggle('Show this help.', { alias: 'h' }),
    version: ofAll.toggle('Show the version.', { alias: 'v' }),
  },
} satisfies Record<string, Record<string, FlagShape>>;

/**
 * Every flag, by the name of the option that it sets. The command line, the environment, config files,
 * the help and the docs follow from it.
 */
const FLAGS = {
  ...FLAG_GROUPS.Address,
  ...FLAG_GROUPS.Store,
  ...FLAG_GROUPS.Simulation,
  ...FLAG_GROUPS.Answers,
  ...FLAG_GROUPS.Keys,
  ...FLAG_GROUPS['Control API'],
  ...FLAG_GROUPS.Deployment,
  ...FLAG_GROUPS.Output,
  ...FLAG_GROUPS.Evidence,
  ...FLAG_GROUPS.Control,
  ...FLAG_GROUPS.Other,
};

export type FlagName = keyof typeof FLAGS;

/** Reads the JSON values of options by name. */
export const FLAG_VALUES = object(FLAGS);

/** The flags that were given, each as its shape reads it. */
export type Flags = ValueOf<typeof FLAG_VALUES>;

export const FLAG_NAMES = Object.keys(FLAGS).filter(isFlagName);

export function isFlagName(name: string): name is FlagName {
  return Object.hasOwn(FLAGS, name);
}

/** The entry of a flag, for code that treats all flags alike. */
export function flagShape(name: FlagName): FlagShape {
  return FLAGS[name];
}

/** What follows `--` on the command line: the name in a config file, and in the docs. */
export function spellingOf(name: FlagName): string {
  const kebab = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return flagShape(name).spelling ?? kebab;
}

const BY_SPELLING = new Map(FLAG_NAMES.map((name) => [spellingOf(name), name]));

/** The flag of a command that is spelled so. */
export function flagSpelled(spelling: string, command?: CommandName): FlagName | undefined {
  const name = BY_SPELLING.get(spelling);
  if (name === undefined || command === undefined) return name;
  return flagShape(name).commands.includes(command) ? name : undefined;
}

/** A flag as it applies to one command. */
export function flagOn(name: FlagName, command: CommandName): FlagShape {
  const { default: _ofOtherCommands, ...shape } = flagShape(name);
  const description = shape.helpOn?.[command];
  return description === undefined ? flagShape(name) : { ...shape, description };
}

/** The heading of a flag in the help. */
export function groupOf(name: FlagName): string {
  return Object.entries(FLAG_GROUPS).find(([, flags]) => Object.hasOwn(flags, name))?.[0] ?? '';
}

export function flagsOf(command: CommandName): FlagName[] {
  return FLAG_NAMES.filter((name) => flagShape(name).commands.includes(command));
}

/** Flags of `serve` that make sense only in one place. */
const NOT_FROM: Record<'environment' | 'config', readonly FlagName[]> = {
  environment: ['help', 'version'],
  config: ['help', 'version', 'config'],
};

/** The flags that can also be environment variables, or members of a config file. */
export function flagsFrom(place: 'environment' | 'config'): FlagName[] {
  return flagsOf('serve').filter((name) => !NOT_FROM[place].includes(name));
}
