import { OPERATION_IDS, operationShape } from '../../contract/operations.ts';
import { type Listed, type Step, stepsOf } from '../../responses/listed.ts';
import { renderTable } from './table.ts';
import { bold, type Style } from './terminal.ts';

const STATUS_COLUMN = 6;
const WAY_COLUMN = 8;

/** Every reply and the ways to get it, by operation. */
export function renderReplies(replies: readonly Listed[], style: Style): string {
  const tables = OPERATION_IDS.flatMap((id) => {
    const own = replies.filter(({ operation }) => operation === id);
    if (own.length === 0) return [];
    const { method, path } = operationShape(id);
    const rows = own.flatMap(rowsOf);
    const table = renderTable(rows, {
      width: style.width,
      columns: [STATUS_COLUMN, WAY_COLUMN],
    });
    return [`${bold(`${id}: ${method} ${path}`, style)}\n${table}`];
  });
  const more = '--curl shows the lines to copy, --check gets each of them.\n';
  return `${tables.join('\n')}\n${more}`;
}

function rowsOf(listed: Listed): string[][] {
  const { status, ground } = listed;
  const { state, scenario, prefer } = waysInWords(listed);
  return [
    [`${status}`, '', ground],
    ['', 'state', state],
    ['', 'scenario', scenario],
    ['', 'prefer', prefer],
  ];
}

/** The ways to get a reply, a line each. */
export function waysInWords(listed: Listed): { state: string; scenario: string; prefer: string } {
  const { operation, status, way, assume } = listed;
  const flags = Object.entries(assume).map(([id, option]) => `--assume ${id}=${option}`);
  // Assumptions are shown as flags here; the steps set them through the control API.
  const calls = stepsOf(listed, 'state').filter(({ path }) => path !== '/__mock/assumptions');
  const { preset } = way;
  const rule = `rules: [{ on: ${operation}, reply: { status: ${status} } }]`;
  return {
    state: [...flags, ...calls.map(inWords)].join('; '),
    scenario: preset === undefined ? rule : `--scenario ${preset.name}; ${afterStart(listed)}`,
    prefer: `Prefer: code=${status}`,
  };
}

/** The remaining steps after a server was started with the scenario. */
function afterStart(listed: Listed): string {
  return stepsOf(listed, 'scenario').slice(1).map(inWords).join('; ');
}

function inWords({ method, path, headers, body, times }: Step): string {
  const key = headers.Authorization;
  const service = !path.startsWith('/__mock');
  const written = typeof body === 'number' ? `a body of ${body} bytes` : body;
  const words = [`${method} ${path}`, ...(written === undefined ? [] : [written])];
  if (service && key === undefined) words.push('without a key');
  if (service && key !== undefined && !key.endsWith(' demo-key')) {
    words.push(`with ${key.replace('Bearer ', '')}`);
  }
  const type = headers['Content-Type'];
  if (type !== undefined && type !== 'application/json') words.push(`as ${type}`);
  if (times > 1) words.push(`${times} times`);
  return words.join(' ');
}
