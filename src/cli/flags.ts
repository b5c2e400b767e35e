import { DEFAULT_URL } from '../core/contract/base-url.ts';
import { DAY_MS } from '../core/contract/date-time.ts';
import { SHELLS } from '../core/curl.ts';
import { DEFAULTS, NAME_FORM, NAME_PATTERN } from '../core/limits.ts';
import { RESET_PARTS } from '../core/sandbox/state.ts';
import { forAssumptions, forServers } from '../core/service/mock-options.ts';
import { ASSUME } from '../core/service/settings-shapes.ts';
import { object } from '../core/shape/objects.ts';
import {
  FILE,
  KEYS,
  milliseconds,
  type OptionShape,
  type OptionsOf,
  OUTPUT,
  one,
  optionFor,
  SWITCH,
  textThat,
  words,
} from '../core/shape/option-kinds.ts';
import { choice, convert, list, text, type ValueOf } from '../core/shape/shapes.ts';
import { type Intersection, rowNames } from '../core/tables.ts';
import { joinWords } from '../core/words.ts';
import { addedRows, findFeatureCommand } from '../features.ts';
import { forServeAndExec, OPTION_GROUPS, TOKEN } from '../server/options.ts';
import type { Command } from '../terminal/command.ts';
import { COMMAND_NAMES, type CommandName, isOwnCommand } from './command-table.ts';
import { COMMAND_FLAGS, REPORT_FLAGS } from './run-flags.ts';

/** The least time limit that `sweep` sets for a run of its command, in milliseconds. */
export const MIN_SWEEP_TIMEOUT_MS = 60_000;

const forCtl = optionFor('ctl');
const forCallers = optionFor('ctl', 'gate');
const forClients = optionFor('health', 'ctl', 'gate');
const forWaiting = optionFor('health', 'exec', 'sweep');
const forAll = optionFor(...COMMAND_NAMES);

const HTTP_URL = one(
  'URL',
  textThat(
    'an http URL such as http://127.0.0.1:4010',
    (value) => /^https?:/i.test(value) && URL.canParse(value),
  ),
);

/** An option of `rate-limit`, the assumption for which the flag is named. */
const RATE = convert(text(), (option, at, report) =>
  ASSUME.read({ 'rate-limit': option }, [...at], (misfit) => report({ ...misfit, at })),
);

export const FLAG_GROUPS = {
  Address: {
    ...OPTION_GROUPS.Address,
    url: forClients(
      HTTP_URL,
      'Base URL of the server; by default, what --host, --port and --tls say.',
    ),
    sandbox: forCallers(
      one('NAME', text(NAME_FORM, NAME_PATTERN, {})),
      'Sandbox to control instead of the default one (ctl), or to judge instead of all (gate).',
    ),
    token: forCallers(TOKEN, 'Token of the control API.'),
    ca: forClients(FILE, 'Trust this certificate, in PEM.'),
    timeout: forWaiting(
      milliseconds(1, DAY_MS),
      `Time limit of a command (exec, sweep) or of a reply: by default at least ${MIN_SWEEP_TIMEOUT_MS} ms (sweep), ${DEFAULTS.healthTimeout} ms (health) or ${DEFAULTS.deploymentTimeout} ms (check, record).`,
    ),
  },
  Command: COMMAND_FLAGS,
  Store: { ...OPTION_GROUPS.Store, ...addedRows('options', 'Store') },
  Simulation: { ...OPTION_GROUPS.Simulation, ...addedRows('options', 'Simulation') },
  Answers: {
    ...OPTION_GROUPS.Answers,
    rateLimit: forAssumptions(
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
    yes: forServeAndExec(SWITCH, 'Send requests to another machine without asking for consent.'),
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
    serverUrl: optionFor('responses')(
      one(
        'URL',
        textThat(`a URL such as ${DEFAULT_URL}`, (value) => URL.canParse(value)),
      ),
      'Base URL of the service to write into the output.',
      { default: DEFAULT_URL },
    ),
    ...addedRows('flags', 'Output'),
    output: optionFor('generate')(OUTPUT, 'Fixture to write; generate prints it by default.'),
    force: optionFor('generate')(SWITCH, 'Overwrite an existing file.'),
  },
  Reports: REPORT_FLAGS,
  Other: {
    config: optionFor(
      ...(['serve', 'exec', 'sweep', 'assumptions', 'generate'] as const),
      ...(['health', 'ctl', 'gate'] as const),
    )(FILE, 'JSON file with flags by name.'),
    help: forAll(SWITCH, 'Show this help.'),
    version: forAll(SWITCH, 'Show the version.'),
  },
};

/** Every flag. The command line, the environment, config files, the help and the docs follow from it. */
export const FLAGS: Intersection<(typeof FLAG_GROUPS)[keyof typeof FLAG_GROUPS]> = Object.assign(
  {},
  ...Object.values(FLAG_GROUPS),
);

export type FlagName = keyof typeof FLAGS;

export const FLAG_VALUES = object(FLAGS);

/** What a config file can say besides flags. */
export const CONFIG_OPTIONS = addedRows('options', 'Config');

export type Flags = ValueOf<typeof FLAG_VALUES> & OptionsOf<{ Config: typeof CONFIG_OPTIONS }>;

/** A command of the program, which knows all flags. */
export type ProgramCommand = Command<Flags>;

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
