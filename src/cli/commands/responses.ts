import { DEFAULT_URL } from '../../core/contract/base-url.ts';
import { BASE_PATH, OPERATION_IDS, operationShape } from '../../core/contract/operations.ts';
import { type Address, CONTROL_PATH, parseAddress } from '../../core/contract/target.ts';
import { curlCommand, type Shell } from '../../core/curl.ts';
import { describe } from '../../core/words.ts';
import { misuse, parseChoice } from '../../terminal/command.ts';
import { renderSection } from '../../terminal/table.ts';
import type { Style } from '../../terminal/terminal.ts';
import type { ProgramCommand } from '../flags.ts';
import {
  listReplies,
  listSafeSteps,
  listSteps,
  type RecipeStep,
  type ReplyRecipe,
  WAY_NAMES,
  type WayName,
} from './reply-recipes.ts';

export const responses: ProgramCommand = async ({ flags, positionals: [operation], terminal }) => {
  const replies = selectReplies(operation);
  const address = readAddress(flags.serverUrl);
  const text = flags.curl
    ? formatCurlLines(replies, address, flags.shell)
    : renderReplies(replies, terminal.style);
  return { text, json: replies.map((recipe) => createEntry(recipe, address.sandbox)), exitCode: 0 };
};

function selectReplies(operation: string | undefined): ReplyRecipe[] {
  const replies = listReplies();
  if (operation === undefined) return replies;
  const expected = 'an operation, as "petstore-mock responses" lists them';
  const id = parseChoice(OPERATION_IDS, operation, 'responses', expected);
  return replies.filter((it) => it.operation === id);
}

function readAddress(url = DEFAULT_URL): Address {
  if (url.replace(/\/+$/, '').endsWith(BASE_PATH)) return parseAddress(url);
  throw misuse('--server-url', `a URL that ends in ${BASE_PATH}`, describe(url));
}

function createEntry(recipe: ReplyRecipe, sandbox: string): object {
  const { operation, status, ground } = recipe;
  const words = describeWays(recipe);
  const ways = WAY_NAMES.map((way) => {
    return [
      way,
      { summary: words[way], requests: listSafeSteps(recipe, way, sandbox).map(createRequest) },
    ];
  });
  return { operation, status, ground, ways: Object.fromEntries(ways) };
}

/** A body that only has to be long is shown as its length. */
function createRequest({ body, ...step }: RecipeStep): object {
  return { ...step, ...(typeof body === 'number' ? { bodyBytes: body } : { body }) };
}

function renderReplies(replies: readonly ReplyRecipe[], style: Style): string {
  const tables = OPERATION_IDS.flatMap((id) => {
    const rows = replies
      .filter(({ operation }) => operation === id)
      .flatMap((recipe) => {
        const words = describeWays(recipe);
        const ways = WAY_NAMES.map((way) => ['', way, words[way]]);
        return [[`${recipe.status}`, '', recipe.ground], ...ways];
      });
    const { method, path } = operationShape(id);
    return rows.length === 0 ? [] : renderSection(`${id}: ${method} ${path}`, rows, style);
  });
  return `${tables.join('\n')}\n--curl prints commands to copy.\n`;
}

function describeWays(recipe: ReplyRecipe): Readonly<Record<WayName, string>> {
  const { operation, status, way, assume } = recipe;
  const flags = Object.entries(assume).map(([id, option]) => `--assume ${id}=${option}`);
  // Flags replace the first step, which chooses assumptions or a scenario.
  const { scenario } = way;
  const [, ...afterScenario] = listSteps(recipe, 'scenario').map(describeStep);
  const afterFlags = listSteps({ ...recipe, assume: {} }, 'state').map(describeStep);
  return {
    state: [...flags, ...afterFlags].join('; '),
    scenario:
      scenario === undefined
        ? `rules: [{ on: ${operation}, reply: { status: ${status} } }]`
        : [`--scenario ${scenario}`, ...afterScenario].join('; '),
    prefer: `Prefer: code=${status}`,
  };
}

function describeStep({ method, path, headers, body, times }: RecipeStep): string {
  const key = headers.Authorization?.replace('Bearer ', '') ?? '';
  const type = headers['Content-Type'] ?? 'application/json';
  const isService = !path.startsWith(CONTROL_PATH);
  return [
    `${method} ${path}`,
    ...(body === undefined ? [] : [typeof body === 'number' ? `a body of ${body} bytes` : body]),
    ...(isService && key === '' ? ['without a key'] : []),
    ...(isService && key !== '' && key !== 'demo-key' ? [`with ${key}`] : []),
    ...(type === 'application/json' ? [] : [`as ${type}`]),
    ...(times > 1 ? [`${times} times`] : []),
  ].join(' ');
}

function formatCurlLines(
  replies: readonly ReplyRecipe[],
  { root, sandbox }: Address,
  shell: Shell = 'sh',
): string {
  const quiet = ['-s', '-o', shell === 'sh' ? '/dev/null' : 'NUL'];
  const blocks = replies.flatMap((recipe) =>
    WAY_NAMES.map((way) => {
      const steps = listSafeSteps(recipe, way, sandbox);
      const last = steps.at(-1);
      const lines = steps.map((step) =>
        step === last
          ? `${formatCurl(step, root, ['-i'], shell)}  # ${recipe.status}\n`
          : `${formatCurl(step, root, quiet, shell)}\n`,
      );
      return `# ${formatTitle(recipe, way)}\n${lines.join('')}`;
    }),
  );
  return blocks.join('\n');
}

function formatTitle({ operation, status, ground }: ReplyRecipe, way: WayName): string {
  const by = { state: 'by real state', scenario: 'by scenario', prefer: 'by Prefer' }[way];
  return `${operation} ${status} (${ground}), ${by}`;
}

function formatCurl(
  { method, path, headers, body, times }: RecipeStep,
  root: string,
  options: readonly string[],
  shell: Shell,
): string {
  const request = { method, url: `${root}${path}`, headers: Object.entries(headers) };
  if (typeof body === 'number') {
    const line = curlCommand(request, [...options, '--data-binary', "'@-'"], shell);
    return `${shell === 'sh' ? `head -c ${body} /dev/zero` : `'0' * ${body}`} | ${line}`;
  }
  const line = curlCommand({ ...request, body }, options, shell);
  if (times === 1) return line;
  return shell === 'sh'
    ? `for n in $(seq ${times}); do ${line}; done`
    : `1..${times} | ForEach-Object { ${line} }`;
}
