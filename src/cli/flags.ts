import { extname } from 'node:path';
import { MOCK_VARIABLES } from '../client/mock-variables.ts';
import { DEFAULT_URL } from '../core/contract/base-url.ts';
import { DEFAULTS, NAME_FORM, NAME_PATTERN } from '../core/limits.ts';
import { SHELLS } from '../core/raw-http.ts';
import { FINDING_CODE_NAMES } from '../core/sandbox/report-shapes.ts';
import { RESET_PARTS } from '../core/sandbox/state.ts';
import { ASSUME } from '../core/scenario/settings-shapes.ts';
import { object } from '../core/shape/objects.ts';
import { choice, convert, list, text, type ValueOf } from '../core/shape/shapes.ts';
import { describe, isRowName, joinWords, rowNames, suggest } from '../core/words.ts';
import { addedRows, type FeatureSettings, findFeatureCommand } from '../features.ts';
import {
  ALLOWED,
  count,
  FILE,
  KEYS,
  many,
  milliseconds,
  type OptionShape,
  OUTPUT,
  one,
  optionFor,
  SWITCH,
  TOKEN,
  textThat,
  words,
} from '../server/option-kinds.ts';
import { forChoosers, forServers, OPTION_GROUPS } from '../server/options.ts';
import { COMMAND_NAMES, type CommandName, isOwnCommand } from './command-table.ts';
import { REPORT_FORMATS } from './reports.ts';
import { CALL_PARTS } from './transcript.ts';

const forExec = optionFor('exec');
const forServeAndExec = optionFor('serve', 'exec');
const forRunners = optionFor('exec', 'sweep');
const forSweep = optionFor('sweep');
const forCtl = optionFor('ctl');
const forCallers = optionFor('ctl', 'gate');
const forGates = optionFor('exec', 'gate');
const forWaiting = optionFor('health', 'exec', 'sweep');
const forAll = optionFor(...COMMAND_NAMES);

const HTTP_URL = one(
  'URL',
  textThat(
    'an http URL such as http://127.0.0.1:4010',
    (value) => /^https?:/i.test(value) && URL.canParse(value),
  ),
);

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

const FAILING_KINDS = ['assumed', 'findings', ...FINDING_CODE_NAMES] as const;

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

/** An option of `rate-limit`, the assumption for which the flag is named. */
const RATE = convert(text(), (option, at, report) =>
  ASSUME.read({ 'rate-limit': option }, [...at], (misfit) => report({ ...misfit, at })),
);

export const FLAG_GROUPS = {
  Address: {
    ...OPTION_GROUPS.Address,
    url: optionFor(
      'health',
      'ctl',
      'gate',
    )(HTTP_URL, 'Base URL of the server; by default, what --host, --port and --tls say.'),
    sandbox: forCallers(
      one('NAME', text(NAME_FORM, NAME_PATTERN, {})),
      'Sandbox to control instead of the default one (ctl), or to judge instead of all (gate).',
    ),
    token: forCallers(TOKEN, 'Token of the control API.'),
    ca: forCallers(FILE, 'Trust this certificate, in PEM.'),
    timeout: forWaiting(
      milliseconds(1, 86_400_000),
      `Time limit of a command (exec, sweep) or of a reply: by default ${DEFAULTS.healthTimeout} ms (health) or ${DEFAULTS.deploymentTimeout} ms (check, record).`,
    ),
  },
  Command: {
    env: forRunners(
      many('NAME=WHAT', OWN_VARIABLE),
      `Set this variable of the command to what the server has: ${joinWords(rowNames(RUN_VALUES), 'or')}.`,
    ),
  },
  Store: { ...OPTION_GROUPS.Store, ...addedRows('options', 'Store') },
  Simulation: OPTION_GROUPS.Simulation,
  Answers: {
    ...OPTION_GROUPS.Answers,
    rateLimit: forChoosers(
      one('N/s', RATE),
      'Allow each key N requests a second (N/s) or minute (N/m).',
    ),
  },
  Keys: {
    key: forServers(KEYS, 'Accept this API key instead of demo-key.'),
    readOnlyKey: forServers(
      KEYS,
      'Accept this read-only key instead of demo-read-only-key; for check, one of the deployment.',
    ),
    invalidKey: forServers(
      KEYS,
      'Refuse this key, even if another flag accepts it; for check, one that the deployment refuses.',
    ),
    anyKey: forServers(SWITCH, 'Accept every key that is not listed as invalid.'),
    ...addedRows('flags', 'Keys'),
  },
  'Control API': {
    ...OPTION_GROUPS['Control API'],
    none: forCtl(SWITCH, 'Deactivate all scenarios (use).'),
    keep: forCtl(
      words('WHAT', list(choice(RESET_PARTS))),
      `Keep ${joinWords(RESET_PARTS, 'or')} (reset); by default your own scenarios.`,
    ),
    follow: forCtl(SWITCH, 'Print exchanges as they happen (requests).'),
  },
  Deployment: {
    ...addedRows('options', 'Deployment'),
    ...addedRows('flags', 'Deployment'),
    yes: optionFor('serve', 'exec')(
      SWITCH,
      'Send requests to another machine without asking for consent.',
    ),
  },
  Output: {
    log: forServeAndExec(
      one('FORMAT', choice(['pretty', 'json', 'off'])),
      'Log format: pretty, json or off; by default pretty on a terminal, else json, and off under exec.',
    ),
    json: optionFor(
      ...(['assumptions', 'responses', 'scenarios', 'validate'] as const),
      ...(['sweep', 'ctl'] as const),
    )(SWITCH, 'Print JSON instead of a table.'),
    curl: optionFor('responses')(SWITCH, 'Print curl commands to copy.'),
    shell: optionFor('responses')(
      one('SHELL', choice(SHELLS)),
      `Shell that the commands of --curl are for: ${joinWords(SHELLS, 'or')} (7).`,
      { default: 'sh' },
    ),
    serverUrl: optionFor('openapi', 'responses')(
      one(
        'URL',
        textThat(`a URL such as ${DEFAULT_URL}`, (value) => URL.canParse(value)),
      ),
      'Base URL of the service to write into the output.',
      { default: DEFAULT_URL },
    ),
    documented: optionFor('openapi')(SWITCH, 'Leave out what is assumed.'),
    output: optionFor('generate')(OUTPUT, 'Fixture to write; generate prints it by default.'),
    force: optionFor('generate')(SWITCH, 'Overwrite an existing file.'),
  },
  Reports: {
    coverage: optionFor(
      'serve',
      'exec',
      'gate',
    )(REPORT_FILES, `Write coverage at exit, as ${REPORT_NAMES} (JUnit).`),
    har: forExec(OUTPUT, 'Write the exchanges as HAR 1.2, the newest 1,000 of each sandbox.'),
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
      words('KINDS', list(choice(FAILING_KINDS))),
      `Exit with 3 on these: ${joinWords(FAILING_KINDS, 'or')}; findings are any of the others.`,
    ),
    allowNoCalls: optionFor(
      'exec',
      'sweep',
      'gate',
    )(SWITCH, 'Pass even if no client makes a call.'),
    jobs: forSweep(count(1, 1000), 'Run this many at a time; by default one for each processor.'),
    all: forSweep(SWITCH, 'Also run the assumptions that the command did not touch.'),
    allow: forSweep(ALLOWED, 'Expected failure, as ID=OPTION; does not affect the exit code.'),
  },
  Other: {
    config: optionFor(
      'serve',
      'exec',
      'sweep',
      'assumptions',
      'generate',
      'health',
    )(FILE, 'JSON file with flags by name.'),
    help: forAll(SWITCH, 'Show this help.'),
    version: forAll(SWITCH, 'Show the version.'),
  },
};

/** Every flag. The command line, the environment, config files, the help and the docs follow from it. */
export const FLAGS = {
  ...FLAG_GROUPS.Address,
  ...FLAG_GROUPS.Command,
  ...FLAG_GROUPS.Store,
  ...FLAG_GROUPS.Simulation,
  ...FLAG_GROUPS.Answers,
  ...FLAG_GROUPS.Keys,
  ...FLAG_GROUPS['Control API'],
  ...FLAG_GROUPS.Deployment,
  ...FLAG_GROUPS.Output,
  ...FLAG_GROUPS.Reports,
  ...FLAG_GROUPS.Other,
};

export type FlagName = keyof typeof FLAGS;

export const FLAG_VALUES = object(FLAGS);

export type Flags = ValueOf<typeof FLAG_VALUES> & FeatureSettings;

export const FLAG_NAMES = rowNames(FLAGS);

export function flagShape(name: FlagName): OptionShape<unknown, unknown, CommandName> {
  return FLAGS[name];
}

export const ALIASES: Partial<Record<FlagName, string>> = { help: 'h', version: 'v' };

/** What follows `--` on the command line: the name in a config file, and in the docs. */
export function spell(name: FlagName): string {
  return flagShape(name).spelling ?? kebab(name);
}

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export function variableFor(name: FlagName): string {
  const { variable = `PETSTORE_MOCK_${spell(name).toUpperCase().replaceAll('-', '_')}` } =
    flagShape(name);
  return variable;
}

export function listFlags(command: CommandName): FlagName[] {
  const others = isOwnCommand(command) ? [] : findFeatureCommand(command).flags;
  return FLAG_NAMES.filter(
    (name) => flagShape(name).commands.includes(command) || others.includes(name),
  );
}

export function findFlag(spelling: string, command: CommandName): FlagName | undefined {
  return [...listFlags(command), ...FLAG_NAMES].find((name) => spell(name) === spelling);
}

/** The flags that can also be environment variables, or members of a config file. */
export function listFlagsFrom(place: 'environment' | 'config'): FlagName[] {
  const others = ['help', 'version', ...(place === 'config' ? ['config'] : [])];
  return listFlags('serve').filter((name) => !others.includes(name));
}
