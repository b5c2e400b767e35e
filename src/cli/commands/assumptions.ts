import {
  ASSUMPTION_IDS,
  type AssumptionId,
  assumptionState,
  chooseOptions,
} from '../../contract/assumption-table.ts';
import { oneOf } from '../input/given.ts';
import { renderAssumption, renderAssumptions } from '../output/render-assumptions.ts';
import type { Command } from './command.ts';

/** Lists the assumptions and the chosen options, or explains one. */
export const assumptions: Command = ({ flags, positionals: [name], terminal: { style } }) => {
  const { assume = {} } = flags;
  const expected = 'the id of one, as "petstore-mock assumptions" lists them';
  const id = name === undefined ? undefined : oneOf(ASSUMPTION_IDS, name, 'assumptions', expected);
  const choices = chooseOptions(assume);
  const stateOf = (it: AssumptionId) => {
    const { operations: touches, ...state } = assumptionState(it, choices);
    return { ...state, touches };
  };
  return id === undefined
    ? { text: renderAssumptions(assume, style), json: ASSUMPTION_IDS.map(stateOf), exitCode: 0 }
    : { text: renderAssumption(id, assume, style), json: stateOf(id), exitCode: 0 };
};
