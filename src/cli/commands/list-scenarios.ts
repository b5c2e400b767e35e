import { scenarioText, shippedScenarios } from '../../scenario/load-scenario.ts';
import { SCENARIO_NAMES } from '../../scenario/scenario-names.ts';
import { type Command, parseChoice } from '../command.ts';
import { renderTable } from '../terminal.ts';

export const scenarios: Command = ({ positionals: [name], terminal: { style } }) => {
  if (name !== undefined) {
    const expected = 'a name that "petstore-mock scenarios" lists';
    const text = scenarioText(parseChoice(SCENARIO_NAMES, name, 'scenarios', expected));
    return { text, json: { text }, exitCode: 0 };
  }
  const shipped = shippedScenarios();
  const rows = shipped.map((it) => [it.name, it.description]);
  const more =
    '--scenario NAME starts a server with one; repeat it to combine several (later ones win).\n"petstore-mock scenarios NAME" prints one to start your own from.\n';
  return { text: `${renderTable(rows, style)}\n${more}`, json: shipped, exitCode: 0 };
};
