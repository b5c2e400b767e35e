import { shippedScenarios } from '../../scenario/load-scenario.ts';
import { isOn } from '../input/given.ts';
import { renderTable } from '../output/table.ts';
import type { Style } from '../output/terminal.ts';
import type { Command } from './command.ts';

/** Lists the scenarios that the package ships. */
export const scenarios: Command = ({ layers, terminal }) => {
  const { output, style } = terminal;
  output.write(
    isOn(layers, 'json')
      ? `${JSON.stringify(shippedScenarios(), undefined, 2)}\n`
      : renderScenarios(style),
  );
  return 0;
};

function renderScenarios({ width }: Style): string {
  const rows = shippedScenarios().map(({ name, description }) => [name, description]);
  const column = Math.max(...shippedScenarios().map(({ name }) => name.length));
  const more = '--scenario NAME starts with one; several add up, and later ones win.\n';
  return `${renderTable(rows, { width, columns: [column] })}\n${more}`;
}
