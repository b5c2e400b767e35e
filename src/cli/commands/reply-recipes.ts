import {
  type Choices,
  DOCUMENTED_REPLIES,
  OPTION_REPLIES,
  optionsOf,
} from '../../core/contract/assumption-table.ts';
import {
  BASE_PATH,
  OPERATION_IDS,
  type OperationId,
  operationShape,
  type RequestChange,
  type Way,
} from '../../core/contract/operations.ts';
import { exampleOf } from '../../core/contract/records.ts';
import { CONTROL_PATH, formatAddress } from '../../core/contract/target.ts';
import { DEFAULT_SANDBOX } from '../../core/limits.ts';

function exampleRequest(operation: OperationId): RequestChange {
  const { parameters, body } = operationShape(operation);
  const id = parameters.find((parameter) => parameter.in === 'path')?.example;
  return {
    ...(id !== undefined && { id: String(id) }),
    ...(body && {
      body: JSON.stringify(exampleOf(body.shape.members, ({ required }) => required)),
    }),
  };
}

interface ReplyWay extends Way {
  /** Options to choose besides the reply's own ground. */
  readonly assume?: Partial<Choices>;
}

function wayToInvalidInput(operation: OperationId): ReplyWay {
  const { parameters, body } = operationShape(operation);
  if (parameters.some((parameter) => parameter.in === 'path')) return { send: { id: 'one' } };
  if (body !== undefined) return { send: { body: '{}' } };
  const limited = parameters.find(({ minimum }) => minimum !== undefined);
  const query = limited ? `${limited.name}=${Number(limited.minimum) - 1}` : 'limit=3';
  return { send: { query }, ...(!limited && { assume: { 'unknown-query': 'reject' } }) };
}

export const WAY_NAMES = ['state', 'scenario', 'prefer'] as const;
export type WayName = (typeof WAY_NAMES)[number];

export interface ReplyRecipe {
  readonly operation: OperationId;
  readonly status: number;
  /** `documented`, or an option of an assumption such as `unknown-pet=404`. */
  readonly ground: string;
  /** The options that must be chosen, if they are not the default. */
  readonly assume: Readonly<Record<string, string>>;
  readonly way: Way;
}

export interface RecipeStep {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | number | undefined;
  readonly times: number;
}

export function listReplies(): ReplyRecipe[] {
  const documented = DOCUMENTED_REPLIES.map(({ operation, status }): ReplyRecipe => {
    const { way = {} } = operationShape(operation).replies[status] ?? {};
    return { operation, status, ground: 'documented', assume: {}, way };
  });
  const assumed = OPTION_REPLIES.map((reply): ReplyRecipe => {
    const { operation, status, ground, assumption, option } = reply;
    const isDefault = optionsOf(assumption)[0] === option;
    const way: ReplyWay = assumption === 'invalid-input' ? wayToInvalidInput(operation) : reply.way;
    const assume = { ...(!isDefault && { [assumption]: option }), ...way.assume };
    return { operation, status, ground, assume, way };
  });
  const recipes = [...documented, ...assumed];
  return OPERATION_IDS.flatMap((id) => recipes.filter(({ operation }) => operation === id));
}

/** The requests of one way to a sandbox as it starts. The last one gets the reply. */
export function listSteps(
  { operation, status, assume, way }: ReplyRecipe,
  name: WayName,
  sandbox = DEFAULT_SANDBOX,
): RecipeStep[] {
  const { arrange = [], send, scenario: shipped } = way;
  const prefix = formatAddress({ root: '', sandbox });
  const rule = { rules: [{ on: operation, reply: { status } }] };
  const scenario = shipped === undefined ? { scenario: rule } : { scenarios: [shipped] };
  const isDefault = Object.keys(assume).length === 0;
  const options = isDefault ? [] : [`PATCH /assumptions ${JSON.stringify(assume)}`];
  const calls = {
    state: [...options, ...arrange],
    scenario: [`PUT /scenario ${JSON.stringify(scenario)}`],
    prefer: [],
  }[name];
  const call = callStep(operation, prefix, name === 'state' ? send : {});
  const prefer = name === 'prefer' && { Prefer: `code=${status}` };
  const headers = { ...call.headers, ...prefer };
  return [...calls.map((text) => controlStep(text, prefix)), { ...call, headers }];
}

function controlStep(call: string, prefix: string): RecipeStep {
  const [, method = '', path, body] = /^(\S+) (\S+)(?: (.*))?$/.exec(call) ?? [];
  const headers = body === undefined ? {} : { 'Content-Type': 'application/json' };
  return { method, path: `${prefix}${CONTROL_PATH}${path}`, headers, body, times: 1 };
}

function callStep(operation: OperationId, prefix: string, sent: RequestChange = {}): RecipeStep {
  const { method, path } = operationShape(operation);
  const request = { ...exampleRequest(operation), ...sent };
  const { id = '', query, key = 'demo-key', body, mediaType = 'application/json' } = request;
  const target = `${prefix}${BASE_PATH}${path.replace(/\{\w+\}/, id)}`;
  return {
    method,
    path: query === undefined ? target : `${target}?${query}`,
    headers: {
      ...(key !== null && { Authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'Content-Type': mediaType }),
    },
    body,
    times: request.times ?? 1,
  };
}

/** Safe to repeat: requests that change something go to a sandbox of their own, reset first. */
export function listSafeSteps(recipe: ReplyRecipe, way: WayName, sandbox?: string): RecipeStep[] {
  const steps = listSteps(recipe, way, sandbox);
  const changes =
    steps.length > 1 || steps.some(({ method, times }) => method !== 'GET' || times > 1);
  if (!changes || way === 'prefer') return steps;
  const { operation, status, ground } = recipe;
  const own = `${operation}-${status}-${ground.replaceAll(/[^\w-]/g, '-')}-${way}`.slice(0, 64);
  const reset = controlStep('POST /reset', formatAddress({ root: '', sandbox: own }));
  return [reset, ...listSteps(recipe, way, own)];
}
