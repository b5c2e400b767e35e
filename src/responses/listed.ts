import { ADDED_REPLIES, optionNames } from '../contract/assumption-table.ts';
import {
  BASE_PATH,
  OPERATION_IDS,
  type OperationId,
  operationShape,
} from '../contract/operations.ts';
import { type Arranged, EXAMPLES, type Sent, WAYS, type Way, type WayTable } from './ways.ts';

export const WAY_NAMES = ['state', 'scenario', 'prefer'] as const;
export type WayName = (typeof WAY_NAMES)[number];

/** A reply that the document or an assumption knows, with how to get it. */
export interface Listed {
  readonly operation: OperationId;
  readonly status: number;
  /** `documented`, or an option of an assumption such as `unknown-pet=404`. */
  readonly ground: string;
  /** What has to be assumed for it, where a default is in its way. */
  readonly assume: Readonly<Record<string, string>>;
  readonly way: Way;
}

/** One request of a way. */
export interface Step {
  readonly method: string;
  /** Below the origin, with the sandbox. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | number | undefined;
  readonly times: number;
}

/** Every documented reply, then every assumed one, operation by operation. */
export function listReplies(ways: WayTable = WAYS): Listed[] {
  return OPERATION_IDS.flatMap((operation) => [
    ...Object.keys(operationShape(operation).replies).map((text) => {
      const status = Number(text);
      const way = present(ways.documented[operation][status], operation, text);
      return { operation, status, ground: 'documented', assume: { ...way.assume }, way };
    }),
    ...assumedOn(operation, ways),
  ]);
}

function assumedOn(operation: OperationId, ways: WayTable): Listed[] {
  const added = ADDED_REPLIES.filter((it) => it.operation === operation);
  return added.map(({ status, assumption, option, ground }) => {
    const way = present(ways.assumed[ground]?.[operation], operation, ground);
    const own = optionNames(assumption)[0] === option ? {} : { [assumption]: option };
    return { operation, status, ground, assume: { ...own, ...way.assume }, way };
  });
}

function present(way: Way | undefined, operation: OperationId, what: string): Way {
  if (way === undefined) throw new Error(`There is no way to ${operation} ${what}.`);
  return way;
}

/** The inline scenario that forces the reply where no shipped one leads to it. */
function ruleFor({ operation, status }: Listed): object {
  return { rules: [{ on: operation, reply: { status } }] };
}

/** The requests that get the reply in one way, from a sandbox as it starts. The last one gets it. */
export function stepsOf(listed: Listed, name: WayName, sandbox?: string): Step[] {
  const { operation, status, assume, way } = listed;
  const prefix = sandbox === undefined ? '' : `/~${sandbox}`;
  const control = ({ method, path, body }: Arranged): Step => ({
    method,
    path: `${prefix}/__mock${path}`,
    headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
    body,
    times: 1,
  });
  const call = (sent: Sent = {}, headers = {}): Step => callOf(operation, prefix, sent, headers);
  if (name === 'prefer') return [call({}, { Prefer: `code=${status}` })];
  if (name === 'scenario') {
    const { preset } = way;
    const chosen = preset ? { scenarios: [preset.name] } : { scenario: ruleFor(listed) };
    const body = JSON.stringify(chosen);
    const first: Arranged = { method: 'PUT', path: '/scenario', body };
    return [first, ...(preset?.arrange ?? [])].map(control).concat(call(preset?.send));
  }
  const assumed: Arranged[] =
    Object.keys(assume).length === 0
      ? []
      : [{ method: 'PATCH', path: '/assumptions', body: JSON.stringify(assume) }];
  return [...assumed, ...(way.arrange ?? [])].map(control).concat(call(way.send));
}

function callOf(
  operation: OperationId,
  prefix: string,
  sent: Sent,
  more: Readonly<Record<string, string>>,
): Step {
  const { method, path } = operationShape(operation);
  const {
    id = '',
    query,
    key = 'demo-key',
    body,
    mediaType,
    times = 1,
  } = {
    ...EXAMPLES[operation],
    ...sent,
  };
  const target = `${prefix}${BASE_PATH}${path.replace(/\{\w+\}/, id)}`;
  return {
    method,
    path: query === undefined ? target : `${target}?${query}`,
    headers: {
      ...(key !== null && { Authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'Content-Type': mediaType ?? 'application/json' }),
      ...more,
    },
    body,
    times,
  };
}

/** What a way is called where it is written out. */
export function titleOf({ operation, status, ground }: Listed, way: WayName): string {
  const by = { state: 'by real state', scenario: 'by scenario', prefer: 'by Prefer' }[way];
  return `${operation} ${status} (${ground}), ${by}`;
}

/**
 * The requests of a way that can be sent again and again: one that changes something does so in a
 * sandbox of its own, which is reset first.
 */
export function repeatable(listed: Listed, way: WayName): Step[] {
  const steps = stepsOf(listed, way);
  const changes =
    steps.length > 1 || steps.some(({ method, times }) => method !== 'GET' || times > 1);
  if (!changes || way === 'prefer') return steps;
  const { operation, status, ground } = listed;
  const sandbox = `${operation}-${status}-${ground.replaceAll(/[^\w-]/g, '-')}-${way}`.slice(0, 64);
  const reset = { method: 'POST', path: `/~${sandbox}/__mock/reset`, headers: {}, body: undefined };
  return [{ ...reset, times: 1 }, ...stepsOf(listed, way, sandbox)];
}
