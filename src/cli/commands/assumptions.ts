import { ASSUMPTION_IDS, assumptionState, chooseOptions } from '../../contract/assumption-table.ts';
import { oneOf } from '../input/given.ts';
import { renderAssumption, renderAssumptions } from '../output/render-assumptions.ts';
import { jsonText } from '../output/write-report.ts';
import type { Command } from './command.ts';

/** Lists the assumptions and the chosen options, or explains one. */
export const assumptions: Command = ({ flags, positionals: [name], terminal }) => {
  const { assume = {}, json = false } = flags;
  const { output, style } = terminal;
  const expected = 'the id of one, as "petstore-mock assumptions" lists them';
  const id = name === undefined ? undefined : oneOf(ASSUMPTION_IDS, name, 'assumptions', expected);
  if (json) {
    const choices = chooseOptions(assume);
    const entries = ASSUMPTION_IDS.map((it) => {
      const { operations: touches, ...state } = assumptionState(it, choices);
      return { ...state, touches };
    });
    output.write(jsonText(id === undefined ? entries : entries.find((it) => it.id === id)));
  } else if (id === undefined) output.write(renderAssumptions(assume, style));
  else output.write(renderAssumption(id, assume, style));
  return 0;
};
