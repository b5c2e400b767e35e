import {
  ASSUMPTION_IDS,
  type AssumptionId,
  assumptionShape,
  type Choices,
  chooseOptions,
  topicOf,
} from '../../contract/assumption-table.ts';
import { oneOf } from '../input/given.ts';
import { renderAssumption, renderAssumptions } from '../output/render-assumptions.ts';
import { jsonText } from '../output/write-report.ts';
import type { Command } from './command.ts';

/** Lists the assumptions with what is chosen, or explains one. */
export const assumptions: Command = ({ flags, positionals: [positional], terminal }) => {
  const { assume = {}, json = false } = flags;
  const id = idOf(positional);
  const { output, style } = terminal;
  if (json) {
    const entries = ASSUMPTION_IDS.map(entry(assume));
    output.write(jsonText(id === undefined ? entries : entry(assume)(id)));
  } else if (id === undefined) output.write(renderAssumptions(assume, style));
  else output.write(renderAssumption(id, assume, style));
  return 0;
};

function idOf(positional: string | undefined): AssumptionId | undefined {
  const expected = 'the id of one, as "petstore-mock assumptions" lists them';
  if (positional === undefined) return undefined;
  return oneOf(ASSUMPTION_IDS, positional, 'assumptions', expected);
}

/** An assumption as JSON shows it. */
function entry(assume: Partial<Choices>): (id: AssumptionId) => object {
  const choices = chooseOptions(assume);
  return (id) => {
    const { question, options: all, touches } = assumptionShape(id);
    const options = all.map(({ name, meaning }) => ({ name, meaning }));
    return {
      id,
      topic: topicOf(id),
      question,
      options,
      default: options[0]?.name,
      chosen: choices[id],
      touches,
    };
  };
}
