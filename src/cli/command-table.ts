import { rowNames } from '../core/tables.ts';
import { describe } from '../core/words.ts';
import { FEATURE_COMMANDS, type FeatureCommandName, findFeatureCommand } from '../features.ts';
import { type CommandShape, UsageError, type WordUsage } from '../terminal/command.ts';

export const NO_WORDS: WordUsage = ['', 0, 0];

export const ANY_NUMBER = Number.POSITIVE_INFINITY;

const FINDS_SERVER =
  'The command finds the base URL of the server in PETSTORE_MOCK_URL, and a key that works in PETSTORE_MOCK_KEY.';

const COMMANDS = {
  serve: {
    aliases: ['start', 'run'],
    takes: NO_WORDS,
    summary: 'Start the server (default).',
    examples: [
      ['--port 8080 --assume cancel-again=404', 'answer the second cancellation with 404'],
      ['--scenario shipped-orders --scenario slow', 'combine two scenarios'],
      ['--animals 1000000 --seed 7', 'serve a store of a million animals'],
      ['--clock 2030-12-06T00:00:00Z --assume after-sunset=410', 'serve after the sunset'],
    ],
  },
  exec: {
    takes: ['-- CMD…', 1, ANY_NUMBER],
    runs: true,
    summary: 'Run a command against a server and report what it was shown.',
    about: FINDS_SERVER,
    examples: [
      ['exec -- npm test', 'run a test suite against a server of its own'],
      ['exec --require-coverage 80% --fail-on rounded-id -- npm test', 'fail the build below 80%'],
      ['exec --env SHOP_URL=url --env SHOP_KEY=key -- npm test', 'set the variables of a client'],
      ['exec --against calls.txt -- npm test', 'fail if the client sends other calls than before'],
    ],
  },
  sweep: {
    takes: ['-- CMD…', 1, ANY_NUMBER],
    runs: true,
    summary:
      'Run a command under every other option of the assumptions it touches, or under faults.',
    about: FINDS_SERVER,
    examples: [
      ['sweep -- npm test', 'find out what a test suite takes for granted'],
      ['sweep --allow cancel-again=404 -- npm test', 'accept a known failure'],
      ['sweep --faults -- npm test', 'let each operation fail once, and see who notices'],
    ],
  },
  gate: {
    takes: NO_WORDS,
    summary: 'Judge what a running server was asked, as exec judges a run.',
    about: 'The server can be one that somebody else started, such as a service container.',
    examples: [
      ['gate --require-coverage 80% --fail-on unmatched', 'fail the build after its tests'],
      ['gate --url http://mock:4010 --fail-on findings', 'judge a server on another host'],
    ],
  },
  assumptions: {
    takes: ['[ID]', 0, 1],
    summary: 'List the assumptions, or explain one.',
    examples: [['assumptions cancel-again', 'explain what a second cancellation can get']],
  },
  responses: {
    takes: ['[OPERATION]', 0, 1],
    summary: 'List every reply and how to get it.',
    examples: [['responses cancelOrder --curl', 'print curl commands for each reply']],
  },
  scenarios: {
    takes: ['[NAME]', 0, 1],
    summary: 'List the shipped scenarios, or print one to start your own from.',
    examples: [['scenarios flaky > mine.yaml', 'start a scenario of your own']],
  },
  validate: {
    takes: ['FILE…', 1, ANY_NUMBER],
    summary: 'Check scenario and fixture files.',
    examples: [
      ['validate mine.yaml store.json', 'check a scenario and a fixture'],
      ['validate --fixture store.json mine.yaml', 'check a scenario over a fixture of your own'],
    ],
  },
  generate: {
    takes: NO_WORDS,
    summary: 'Write a fixture of any size.',
    examples: [['generate --animals 500 --output store.json', 'write 500 animals to a file']],
  },
  health: {
    takes: NO_WORDS,
    summary: 'Exit with 0 if a server is up, else with 1.',
    examples: [['health --port 8080', 'check a server on this machine']],
  },
  ctl: {
    takes: ['ACTION…', 0, ANY_NUMBER],
    summary: 'Control a server that is running.',
    examples: [
      ['ctl use outage slow', 'switch scenarios'],
      ['ctl ship 1', 'mark an order as shipped'],
      ['ctl set inventory 1 quantity=0', 'change a record'],
      ['ctl clock +P30D', 'move the clock by 30 days'],
      ['ctl requests --follow', 'watch what a client does'],
    ],
  },
  completion: {
    takes: ['[SHELL]', 0, 1],
    summary: 'Print a completion script for a shell.',
    examples: [['completion bash >> ~/.bashrc', 'complete commands and flags in bash']],
  },
} as const satisfies Record<string, CommandShape>;

export type OwnCommandName = keyof typeof COMMANDS;

/** A command of the program or of a feature. */
export type CommandName = OwnCommandName | FeatureCommandName;

export const COMMAND_NAMES: readonly CommandName[] = [
  ...rowNames(COMMANDS),
  ...rowNames(FEATURE_COMMANDS),
];

export function isOwnCommand(name: CommandName): name is OwnCommandName {
  return Object.hasOwn(COMMANDS, name);
}

export function commandShape(name: CommandName): CommandShape {
  return isOwnCommand(name) ? COMMANDS[name] : findFeatureCommand(name);
}

export function requireWords(
  name: string,
  [usage, min, max]: WordUsage,
  words: readonly string[],
): void {
  if (words.length >= min && words.length <= max) return;
  const needs = `${name} ${words.length < min ? 'needs' : 'takes'} ${usage || 'no words'}`;
  throw new UsageError(words.length > 0 ? `${needs}; found ${describe(words.join(' '))}` : needs);
}
