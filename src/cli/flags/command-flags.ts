import { DEFAULT_URL } from '../../contract/default-url.ts';
import { FINDING_CODE_NAMES } from '../../evidence/findings.ts';
import { listed } from '../../words.ts';
import { COMMAND_NAMES } from '../command-table.ts';
import { type FlagShape, SERVERS } from './flag-shape.ts';

const MOST_JOBS = 1000;

/** What `--fail-on` accepts: a kind of finding, or any reply that rested on an assumption. */
export const FAILING_KINDS = ['assumed', ...FINDING_CODE_NAMES] as const;

/** The flags that only commands beside `serve` have, and those that nearly all have. */
export const COMMAND_FLAGS = {
  'require-coverage': {
    type: 'text',
    value: 'N%',
    description:
      'Exit with 3 if a smaller share of the documented replies was shown; documented means 100%.',
    group: 'Evidence',
    commands: ['exec'],
  },
  'fail-on': {
    type: 'list',
    value: 'KINDS',
    description: `Exit with 3 on these, separated by commas: ${listed(FAILING_KINDS, 'or')}. Repeatable.`,
    group: 'Evidence',
    commands: ['exec'],
  },
  jobs: {
    type: 'integer',
    value: 'N',
    range: [1, MOST_JOBS],
    description: 'Run this many at a time; by default one for each processor.',
    group: 'Evidence',
    commands: ['sweep'],
  },
  all: {
    type: 'switch',
    description: 'Also run the assumptions that the command did not touch.',
    group: 'Evidence',
    commands: ['sweep'],
  },
  allow: {
    type: 'list',
    value: 'ID=OPTION',
    description: 'Expected failure, as ID=OPTION; does not affect the exit code. Repeatable.',
    group: 'Evidence',
    commands: ['sweep'],
  },
  junit: {
    type: 'text',
    value: 'FILE',
    description: 'Also write the result as JUnit XML.',
    group: 'Evidence',
    commands: ['sweep'],
  },
  html: {
    type: 'text',
    value: 'FILE',
    description: 'Also write the result as a web page.',
    group: 'Evidence',
    commands: ['sweep'],
  },
  json: {
    type: 'switch',
    description: 'Print JSON instead of a table.',
    group: 'Output',
    commands: ['assumptions', 'responses', 'scenarios', 'validate', 'sweep'],
  },
  curl: {
    type: 'switch',
    description: 'Print curl commands to copy.',
    group: 'Output',
    commands: ['responses'],
  },
  check: {
    type: 'switch',
    description: 'Request each reply from a server of its own; exit with 1 if one does not come.',
    group: 'Output',
    commands: ['responses'],
  },
  http: {
    type: 'text',
    value: 'FILE',
    description: 'Write the requests as an .http file.',
    group: 'Output',
    commands: ['responses'],
  },
  postman: {
    type: 'text',
    value: 'FILE',
    description: 'Write the requests as a Postman 2.1 collection.',
    group: 'Output',
    commands: ['responses'],
  },
  'server-url': {
    type: 'text',
    value: 'URL',
    default: DEFAULT_URL,
    description: 'Base URL of the service to write into the output.',
    group: 'Output',
    commands: ['openapi', 'responses'],
  },
  output: {
    type: 'text',
    value: 'FILE',
    description: 'Write to this file instead of standard output.',
    group: 'Output',
    commands: ['generate'],
  },
  force: {
    type: 'switch',
    description: 'Overwrite an existing file.',
    group: 'Output',
    commands: ['generate'],
  },
  url: {
    type: 'text',
    value: 'URL',
    description: 'Server to ask, instead of the one at --host and --port.',
    group: 'Address',
    commands: ['health'],
  },
  timeout: {
    type: 'integer',
    value: 'MS',
    range: [1, 600_000],
    default: 3000,
    description: 'Milliseconds to wait for the reply.',
    group: 'Address',
    commands: ['health', 'exec', 'sweep'],
    helpOn: {
      exec: { value: 'SECONDS', description: 'End the command after this many seconds.' },
      sweep: {
        value: 'SECONDS',
        description: 'End a run after this many seconds; it counts as failed.',
      },
    },
  },
  config: {
    type: 'text',
    value: 'FILE',
    description: 'JSON file with flags by name.',
    group: 'Other',
    commands: [...SERVERS, 'assumptions', 'generate', 'health'],
  },
  help: {
    type: 'switch',
    alias: 'h',
    description: 'Show this help.',
    group: 'Other',
    commands: COMMAND_NAMES,
  },
  version: {
    type: 'switch',
    alias: 'v',
    description: 'Show the version.',
    group: 'Other',
    commands: COMMAND_NAMES,
  },
} as const satisfies Record<string, FlagShape>;
