import { DEFAULT_URL } from '../contract/base-url.ts';
import { ORDER_STATUSES } from '../contract/records.ts';
import { DEFAULTS } from '../defaults.ts';
import { KEEPABLE } from '../sandbox/state.ts';
import { BASE_URL, KEY } from '../shape/deployment-shapes.ts';
import { object } from '../shape/objects.ts';
import { choice, type ValueOf } from '../shape/shapes.ts';
import { joinWords } from '../words.ts';
import { COMMAND_NAMES, type CommandName } from './command-table.ts';
import {
  ALLOWED,
  FAIL_ON,
  FAILING_KINDS,
  type FlagShape,
  integer,
  KEPT,
  list,
  ORDER_ID,
  one,
  REPORT_FILE,
  SERVER_URL,
  SHARE,
  text,
  toggle,
  words,
} from './flag-shapes.ts';
import { CALLERS, SERVER_FLAGS, SERVERS } from './server-flags.ts';

/** The commands that start a server that can stand in front of a deployment. */
const FRONTS = ['serve', 'exec'] as const;

/** The status that `record` gives to orders that show none. */
export const DEFAULT_UNKNOWN_STATUS = 'pending';

/** All flags under the headings of the help. */
const FLAG_GROUPS = {
  ...SERVER_FLAGS,
  Deployment: {
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
  },
  Output: {
    log: one(
      choice(['pretty', 'json', 'off']),
      'FORMAT',
      ['serve', 'exec'],
      'Log format: pretty, json or off. Default: pretty on a terminal, else json.',
      { helpOn: { exec: 'Log to standard error, as pretty or json.' } },
    ),
    json: toggle(
      ['assumptions', 'responses', 'scenarios', 'validate', 'sweep', 'ctl', 'check', 'record'],
      'Print JSON instead of a table.',
    ),
    curl: toggle(['responses'], 'Print curl commands to copy.'),
    check: toggle(
      ['responses'],
      'Request each reply from a new server; exit with 1 if any differs.',
    ),
    http: text('FILE', ['responses'], 'Write the requests as an .http file.', { writes: true }),
    postman: text('FILE', ['responses'], 'Write the requests as a Postman 2.1 collection.', {
      writes: true,
    }),
    serverUrl: one(
      SERVER_URL,
      'URL',
      ['openapi', 'responses'],
      'Base URL of the service to write into the output.',
      { default: DEFAULT_URL },
    ),
    documented: toggle(
      ['openapi'],
      'Leave out what is assumed, to generate a client of the real service.',
    ),
    output: text('FILE', ['generate', 'record'], 'Write to this file instead of standard output.', {
      writes: true,
      helpOn: { record: 'Fixture to write.' },
    }),
    force: toggle(['generate', 'record'], 'Overwrite an existing file.'),
  },
  Evidence: {
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
    junit: text('FILE', ['sweep', 'check'], 'Also write the result as JUnit XML.', {
      writes: true,
    }),
    html: text('FILE', ['sweep', 'check'], 'Also write the result as a web page.', {
      writes: true,
    }),
  },
  Control: {
    none: toggle(['ctl'], 'Deactivate all scenarios (use).'),
    keep: words(
      KEPT,
      'WHAT',
      ['ctl'],
      `Keep ${joinWords(KEEPABLE, 'or')} (reset); your own scenarios if the flag is left out. Repeatable.`,
    ),
    follow: toggle(['ctl'], 'Print exchanges as they happen (requests).'),
  },
  Other: {
    config: text(
      'FILE',
      [...SERVERS, 'assumptions', 'generate', 'health'],
      'JSON file with flags by name.',
    ),
    help: toggle(COMMAND_NAMES, 'Show this help.', { alias: 'h' }),
    version: toggle(COMMAND_NAMES, 'Show the version.', { alias: 'v' }),
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
