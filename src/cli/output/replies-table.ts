import { OPERATION_IDS, operationShape } from '../../contract/operations.ts';
import {
  type ReplyRecipe,
  type Step,
  stepsOf,
  WAY_NAMES,
  type WayName,
} from '../../responses/reply-recipes.ts';
import { renderTable } from './table.ts';
import { bold, type Style } from './terminal.ts';

const STATUS_COLUMN = 6;
const WAY_COLUMN = 8;

/** Every reply and the ways to get it, grouped by operation. */
export function renderReplies(replies: readonly ReplyRecipe[], style: Style): string {
  const layout = { width: style.width, columns: [STATUS_COLUMN, WAY_COLUMN] };
  const tables = OPERATION_IDS.flatMap((id) => {
    const rows = replies.filter(({ operation }) => operation === id).flatMap(rowsOf);
    if (rows.length === 0) return [];
    const { method, path } = operationShape(id);
    return [`${bold(`${id}: ${method} ${path}`, style)}\n${renderTable(rows, layout)}`];
  });
  const more = '--curl prints commands to copy, --check requests every reply.\n';
  return `${tables.join('\n')}\n${more}`;
}

function rowsOf(recipe: ReplyRecipe): string[][] {
  const ways = waysInWords(recipe);
  return [[`${recipe.status}`, '', recipe.ground], ...WAY_NAMES.map((way) => ['', way, ways[way]])];
}

/** The ways to get a reply, one line each. */
export function waysInWords(recipe: ReplyRecipe): Readonly<Record<WayName, string>> {
  const { operation, status, way, assume } = recipe;
  const flags = Object.entries(assume).map(([id, option]) => `--assume ${id}=${option}`);
  // Flags replace the first step, which chooses assumptions or a scenario.
  const { preset } = way;
  const [, ...afterScenario] = stepsOf(recipe, 'scenario').map(inWords);
  const afterFlags = stepsOf({ ...recipe, assume: {} }, 'state').map(inWords);
  return {
    state: [...flags, ...afterFlags].join('; '),
    scenario:
      preset === undefined
        ? `rules: [{ on: ${operation}, reply: { status: ${status} } }]`
        : [`--scenario ${preset.name}`, ...afterScenario].join('; '),
    prefer: `Prefer: code=${status}`,
  };
}

function inWords({ method, path, headers, body, times }: Step): string {
  const key = headers.Authorization?.replace('Bearer ', '') ?? '';
  const type = headers['Content-Type'] ?? 'application/json';
  const isService = !path.startsWith('/__mock');
  return [
    `${method} ${path}`,
    ...(body === undefined ? [] : [typeof body === 'number' ? `a body of ${body} bytes` : body]),
    ...(isService && key === '' ? ['without a key'] : []),
    ...(isService && key !== '' && key !== 'demo-key' ? [`with ${key}`] : []),
    ...(type === 'application/json' ? [] : [`as ${type}`]),
    ...(times > 1 ? [`${times} times`] : []),
  ].join(' ');
}
