import { pipeline } from 'node:stream/promises';
import { DEFAULTS } from '../../core/limits.ts';
import {
  SCENARIO_NAMES,
  scenarioText,
  shippedScenarios,
} from '../../core/scenario/scenario-names.ts';
import { generateStore } from '../../core/store/generate-store.ts';
import { storeText } from '../../core/store/store-text.ts';
import { NODE_PLATFORM } from '../../server/node-platform.ts';
import { parseChoice } from '../../terminal/command.ts';
import { renderTable } from '../../terminal/table.ts';
import { requireNew, writeStore } from '../../terminal/write-files.ts';
import { renderCompletionScript } from '../command-help.ts';
import type { ProgramCommand } from '../flags.ts';

export const scenarios: ProgramCommand = ({ positionals: [name], terminal: { style } }) => {
  if (name !== undefined) {
    const expected = 'a name that "petstore-mock scenarios" lists';
    const known = parseChoice(SCENARIO_NAMES, name, 'scenarios', expected);
    const text = scenarioText(NODE_PLATFORM, known);
    return { text, json: { text }, exitCode: 0 };
  }
  const shipped = shippedScenarios(NODE_PLATFORM);
  const rows = shipped.map((it) => [it.name, it.description]);
  const more =
    '--scenario NAME starts a server with one; repeat it to combine several (later ones win).\n"petstore-mock scenarios NAME" prints one to start your own from.\n';
  return { text: `${renderTable(rows, style)}\n${more}`, json: shipped, exitCode: 0 };
};

export const generate: ProgramCommand = async ({ flags, terminal }) => {
  const { output: file, animals, orders, seed = DEFAULTS.seed } = flags;
  if (file !== undefined && !flags.force) requireNew(file);
  const store = await generateStore({ animals, orders, seed }, NODE_PLATFORM);
  if (file === undefined) await pipeline(storeText(store), terminal.output, { end: false });
  else await writeStore(store, file);
  return { exitCode: 0 };
};

const SHELLS = ['bash', 'zsh', 'fish'];

export const completion: ProgramCommand = async ({ positionals: [shell] }) => {
  if (shell !== undefined) {
    // yargs reads these variables. This process does nothing else.
    process.env.SHELL = parseChoice(SHELLS, shell, 'completion');
    process.env.ZSH_NAME = '';
  }
  return { text: await renderCompletionScript(), exitCode: 0 };
};
