import {
  COMMAND_NAMES,
  COMPLETION,
  type CommandName,
  commandShape,
  usageOf,
} from '../command-table.ts';
import { type FlagName, flagHelp, flagShape, flagsOf } from '../flags.ts';
import { renderTable, wrap } from '../output/table.ts';
import { bold, type Style } from '../output/terminal.ts';
import { variableOf } from './environment.ts';

const EXAMPLES = [
  ['petstore-mock --port 8080 --assume cancel-again=404', 'cancel twice, and get 404'],
  ['petstore-mock --scenario shipped-orders --scenario slow', 'too late to cancel, and slow'],
  ['petstore-mock --animals 1000000 --seed 7', 'a store of a million animals'],
  ['petstore-mock --clock 2030-12-06T00:00:00Z --assume after-sunset=410', 'after the sunset'],
] as const;

const READ_ON = [
  ['petstore-mock responses', 'every reply, with how to get it'],
  ['petstore-mock assumptions', 'what the document leaves open, and how to answer it otherwise'],
  ['petstore-mock scenarios', 'states, replies and faults to force with --scenario'],
  ['petstore-mock openapi', 'the service as an OpenAPI document'],
  ['less README.md', 'every documented reply, with a curl line'],
] as const;

/** The help of the whole program, which is that of `serve` too: commands, flags, examples. */
export function renderHelp(style: Style): string {
  const commands = COMMAND_NAMES.map(commandRow);
  return [
    'A local stand-in for the pet store service, for people who write its clients.\n',
    section('Usage', '  petstore-mock [COMMAND] [FLAGS]\n', style),
    section(
      'Commands',
      rows([...commands, [COMPLETION.name, COMPLETION.summary]], style) +
        '\n  petstore-mock COMMAND --help shows the flags of a command. Those of serve:\n',
      style,
    ),
    ...flagSections('serve', style),
    elsewhere(style),
    section('Examples', commented(EXAMPLES), style),
    section('Read on', commented(READ_ON), style),
  ].join('\n');
}

/** The help of a command that is not `serve`. */
export function renderCommandHelp(command: Exclude<CommandName, 'serve'>, style: Style): string {
  const { positional, runs, summary } = commandShape(command);
  const usage = runs ? `${command} [FLAGS] -- CMD…` : `${usageOf(command)} [FLAGS]`;
  return [
    `${summary}\n`,
    section('Usage', `  petstore-mock ${usage}\n`, style),
    ...(positional === undefined
      ? []
      : [
          section(
            'Arguments',
            rows([[positional.name.toUpperCase(), positional.description]], style),
            style,
          ),
        ]),
    ...flagSections(command, style),
  ].join('\n');
}

function commandRow(command: CommandName): [string, string] {
  return [usageOf(command), commandShape(command).summary];
}

function flagSections(command: CommandName, style: Style): string[] {
  const flags = flagsOf(command);
  const groups = [...new Set(flags.map((name) => flagShape(name).group))];
  return groups.map((group) => {
    const members = flags.filter((name) => flagShape(name).group === group);
    return section(
      group,
      rows(
        members.map((name) => flagRow(name, command)),
        style,
      ),
      style,
    );
  });
}

function flagRow(name: FlagName, command: CommandName): [string, string] {
  const { alias, value, description, default: fallback } = flagHelp(name, command);
  return [
    `${alias === undefined ? '' : `-${alias}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
    fallback === undefined ? description : `${description} (${fallback})`,
  ];
}

function elsewhere(style: Style): string {
  const example = `--read-only-key is ${variableOf('read-only-key')}`;
  const text = `Each of these can also be an environment variable, with commas between repeated values and 1 or 0 for a flag without one: ${example}. Or it can stand in the --config file. A flag wins over a variable, and that over the file.`;
  return `${wrap(text, style.width).join('\n')}\n`;
}

function commented(lines: readonly (readonly [string, string])[]): string {
  return lines.map(([command, effect]) => `  # ${effect}\n  ${command}\n`).join('');
}

/** The same first column everywhere, so that the whole page lines up. */
const FIRST_COLUMN = 21;

function rows(cells: readonly (readonly [string, string])[], { width }: Style): string {
  return renderTable(cells, { width, columns: [FIRST_COLUMN] });
}

function section(title: string, body: string, style: Style): string {
  return `${bold(title, style)}\n${body}`;
}
