import {
  ASSUMPTION_IDS,
  ASSUMPTIONS,
  type AssumptionId,
  assumptionState,
  assumptionTopic,
  type Choices,
  chooseOptions,
  optionsOf,
} from '../../core/contract/assumption-table.ts';
import { parseChoice } from '../../terminal/command.ts';
import { renderSection, wrap } from '../../terminal/table.ts';
import { bold, type Style } from '../../terminal/terminal.ts';
import type { ProgramCommand } from '../flags.ts';

export const assumptions: ProgramCommand = ({
  flags,
  positionals: [name],
  terminal: { style },
}) => {
  const { assume = {} } = flags;
  const choices = chooseOptions(assume);
  const describeState = (id: AssumptionId) => {
    const { operations: touches, ...state } = assumptionState(id, choices);
    return { ...state, touches };
  };
  if (name === undefined) {
    return {
      text: renderAssumptions(assume, style),
      json: ASSUMPTION_IDS.map(describeState),
      exitCode: 0,
    };
  }
  const expected = 'the id of one, as "petstore-mock assumptions" lists them';
  const id = parseChoice(ASSUMPTION_IDS, name, 'assumptions', expected);
  return { text: renderAssumption(id, assume, style), json: describeState(id), exitCode: 0 };
};

export function renderAssumptions(assume: Partial<Choices>, style: Style): string {
  const tables = [...new Set(ASSUMPTION_IDS.map(assumptionTopic))].map((topic) => {
    const ids = ASSUMPTION_IDS.filter((id) => assumptionTopic(id) === topic);
    const rows = ids.map((id) => {
      const options = optionRows(id, assume).map(([marked]) => marked);
      return [id, options.join(', '), ASSUMPTIONS[id].question];
    });
    return renderSection(topic, rows, style);
  });
  const more = '"petstore-mock assumptions ID" explains one; --assume ID=OPTION changes one.\n';
  return `${tables.join('\n')}\n${legend(assume)}${more}`;
}

export function renderAssumption(id: AssumptionId, assume: Partial<Choices>, style: Style): string {
  const { question, touches } = ASSUMPTIONS[id];
  const touched = touches.join(', ') || 'No operation, only other requests.';
  return [
    `${bold(id, style)}\n${wrap(question, style.width).join('\n')}\n`,
    renderSection('Options', optionRows(id, assume), style),
    renderSection('Touches', [[touched]], style),
    `${legend(assume)}--assume ${id}=${optionsOf(id)[1]} changes it.\n`,
  ].join('\n');
}

/** The options with their meanings, marked, and the chosen one if it is not listed, such as a rate. */
function optionRows(id: AssumptionId, assume: Partial<Choices>): (readonly [string, string])[] {
  const chosen = assume[id];
  const listed: readonly { name: string; meaning: string }[] = ASSUMPTIONS[id].options;
  const isOther = chosen !== undefined && !optionsOf(id).includes(chosen);
  const own = isOther ? [{ name: chosen, meaning: 'any rate can be given' }] : [];
  return [...listed, ...own].map(({ name, meaning }, index) => {
    return [`${name === chosen ? '>' : ''}${name}${index === 0 ? '*' : ''}`, meaning];
  });
}

function legend(assume: Partial<Choices>): string {
  return Object.keys(assume).length === 0 ? '* the default\n' : '* the default   > chosen\n';
}
