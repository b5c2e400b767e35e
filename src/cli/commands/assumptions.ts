import {
  ASSUMPTION_IDS,
  ASSUMPTIONS,
  type AssumptionId,
  assumptionState,
  type Choices,
  chooseOptions,
  optionNames,
  topicOf,
} from '../../contract/assumption-table.ts';
import { type Command, oneOf } from '../command.ts';
import { bold, renderTable, type Style, wrap } from '../terminal.ts';

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

const ID_COLUMN = Math.max(...ASSUMPTION_IDS.map((id) => id.length));
const OPTIONS_COLUMN = 24;
const OPTION_COLUMN = 18;

/** A row for each assumption, by topic. */
export function renderAssumptions(assume: Partial<Choices>, style: Style): string {
  const columns = [ID_COLUMN, OPTIONS_COLUMN];
  const topics = [...new Set(ASSUMPTION_IDS.map(topicOf))];
  const tables = topics.map((topic) => {
    const ids = ASSUMPTION_IDS.filter((id) => topicOf(id) === topic);
    const rows = ids.map((id) => {
      const options = markedOptions(id, assume).map(({ marked }) => marked);
      return [id, options.join(', '), ASSUMPTIONS[id].question];
    });
    return `${bold(topic, style)}\n${renderTable(rows, { width: style.width, columns })}`;
  });
  const more = '"petstore-mock assumptions ID" explains one; --assume ID=OPTION changes one.\n';
  return `${tables.join('\n')}\n${legend(assume)}${more}`;
}

/** One assumption: what each option means, and which operations it touches. */
export function renderAssumption(id: AssumptionId, assume: Partial<Choices>, style: Style): string {
  const { question, touches } = ASSUMPTIONS[id];
  const rows = markedOptions(id, assume).map(({ marked, meaning }) => [marked, meaning]);
  const [, other] = optionNames(id);
  const touched = touches.join(', ') || 'No operation, only other requests.';
  return [
    `${bold(id, style)}\n${wrap(question, style.width).join('\n')}\n`,
    `${bold('Options', style)}\n${renderTable(rows, { width: style.width, columns: [OPTION_COLUMN] })}`,
    `${bold('Touches', style)}\n${renderTable([[touched]], style)}`,
    `${legend(assume)}--assume ${id}=${other} changes it.\n`,
  ].join('\n');
}

/** The options of an assumption, with the chosen one if it is not listed, such as a rate limit. */
function markedOptions(id: AssumptionId, assume: Partial<Choices>) {
  const chosen = assume[id];
  const listed: readonly { name: string; meaning: string }[] = ASSUMPTIONS[id].options;
  const isOther = chosen !== undefined && !optionNames(id).includes(chosen);
  const own = isOther ? [{ name: chosen, meaning: 'any rate can be given' }] : [];
  return [...listed, ...own].map(({ name, meaning }, index) => {
    const marked = `${name === chosen ? '>' : ''}${name}${index === 0 ? '*' : ''}`;
    return { marked, meaning };
  });
}

function legend(assume: Partial<Choices>): string {
  return Object.keys(assume).length === 0 ? '* the default\n' : '* the default   > chosen\n';
}
