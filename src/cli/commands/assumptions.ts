import {
  ASSUMPTION_IDS,
  type AssumptionId,
  assumptionShape,
  chooseOptions,
  topicOf,
} from '../../contract/assumption-table.ts';
import { type Assumed, assumedBy } from '../input/assume.ts';
import { isOn, oneOf } from '../input/given.ts';
import { jsonText } from '../output/json-text.ts';
import { renderAssumption, renderAssumptions } from '../output/render-assumptions.ts';
import type { Command } from './command.ts';

/** Lists the assumptions with what is chosen, or explains one. */
export const assumptions: Command = ({ layers, positionals: [positional], terminal }) => {
  const assumed = assumedBy(layers);
  const id = idOf(positional);
  const { output, style } = terminal;
  if (isOn(layers, 'json')) {
    const entries = ASSUMPTION_IDS.map(entry(assumed));
    output.write(jsonText(id === undefined ? entries : entry(assumed)(id)));
  } else if (id === undefined) output.write(renderAssumptions(assumed, style));
  else output.write(renderAssumption(id, assumed, style));
  return 0;
};

function idOf(positional: string | undefined): AssumptionId | undefined {
  const expected = 'the id of one, as "petstore-mock assumptions" lists them';
  if (positional === undefined) return undefined;
  return oneOf(ASSUMPTION_IDS, positional, 'assumptions', expected);
}

/** An assumption as JSON shows it. */
function entry(assumed: Assumed): (id: AssumptionId) => object {
  const choices = chooseOptions(assumed);
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
