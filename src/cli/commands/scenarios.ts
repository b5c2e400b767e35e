import { scenarioText, shippedScenarios } from '../../scenario/load-scenario.ts';
import { SCENARIO_NAMES } from '../../scenario/scenario-names.ts';
import { type Command, oneOf } from '../command.ts';
import type { Style } from '../terminal.ts';
import { renderTable } from '../terminal.ts';

/** Lists the scenarios that the package ships, or prints one. */
export const scenarios: Command = ({ positionals: [name], terminal: { style } }) => {
  const expected = 'a name that "petstore-mock scenarios" lists';
  if (name === undefined) {
    return { text: renderScenarios(style), json: shippedScenarios(), exitCode: 0 };
  }
  const text = scenarioText(oneOf(SCENARIO_NAMES, name, 'scenarios', expected));
  return { text, json: { text }, exitCode: 0 };
};

function renderScenarios(style: Style): string {
  const rows = shippedScenarios().map(({ name, description }) => [name, description]);
  const more =
    '--scenario NAME starts a server with one; repeat it to combine several (later ones win).\n"petstore-mock scenarios NAME" prints one to start your own from.\n';
  return `${renderTable(rows, style)}\n${more}`;
}
