import {
  ASSUMPTION_IDS,
  ASSUMPTIONS,
  type AssumptionId,
  chooseOptions,
} from '../contract/assumptions.ts';
import type { Assumed } from './assume.ts';
import { renderTable, wrap } from './table.ts';
import { bold, type Style } from './terminal.ts';

const DEFAULT_MARK = '*';
const CHOSEN_MARK = '>';

/** Every assumption in a line or two, by topic. */
export function renderAssumptions(assumed: Assumed, style: Style): string {
  const topics = [...new Set(ASSUMPTION_IDS.map((id) => ASSUMPTIONS[id].topic))];
  const tables = topics.map((topic) => {
    const ids = ASSUMPTION_IDS.filter((id) => ASSUMPTIONS[id].topic === topic);
    return `${bold(topic, style)}\n${renderIds(ids, assumed, style)}`;
  });
  return `${tables.join('\n')}\n${legend(assumed)}`;
}

function renderIds(ids: readonly AssumptionId[], assumed: Assumed, { width }: Style): string {
  const cells = ids.map((id) => [
    id.padEnd(ID_WIDTH),
    optionsOf(id, assumed)
      .map(({ name, marks }) => marks.replace('option', name))
      .join(' ')
      .padEnd(OPTIONS_WIDTH),
    ASSUMPTIONS[id].question,
  ]);
  return renderTable(cells, { width, widest: [ID_WIDTH, OPTIONS_WIDTH] });
}

const ID_WIDTH = Math.max(...ASSUMPTION_IDS.map((id) => id.length));
const OPTIONS_WIDTH = 24;

/** One assumption: each option with its meaning, and the operations whose replies it can change. */
export function renderAssumption(id: AssumptionId, assumed: Assumed, style: Style): string {
  const { question, touches } = ASSUMPTIONS[id];
  const options = optionsOf(id, assumed);
  const rows = options.map(({ name, meaning, marks }) => [marks.replace('option', name), meaning]);
  const last = options.at(-1)?.name ?? '';
  const operations = touches.length === 0 ? 'no operation: paths of the service' : touches.join(', ');
  return [
    `${bold(id, style)}\n${wrap(question, style.width).join('\n')}\n`,
    renderTable(rows, { width: style.width, widest: [20] }),
    `${renderTable([['Touches', operations]], { width: style.width, widest: [20], indent: 0 })}` +
      `Choose with  --assume ${id}=${last}\n`,
    legend(assumed),
  ].join('\n');
}
