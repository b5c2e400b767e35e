import { ASSUMPTION_IDS } from '../contract/assumption-table.ts';
import { DOCUMENTED_REPLIES } from '../contract/cases.ts';
import { ASK_NAMES, ASKS, type Ask, type AskName } from './asks.ts';
import { SAFE } from './deployment-client.ts';
import { ruledBy } from './document-rules.ts';
import { FACTS, factsOf, fill, type NamedOrders } from './facts.ts';
import { asksFor, probeOf } from './probe-table.ts';

/** What a check may do, and what the user says about the deployment. */
export interface CheckOptions {
  readonly writes: boolean;
  readonly orders: NamedOrders;
  readonly readOnlyKey?: string | undefined;
  readonly invalidKey?: string | undefined;
  /** Requests per second. */
  readonly rate: number;
}

/** A request that a check sends, before what it depends on is known. */
export interface PlannedRequest {
  readonly name: AskName;
  readonly method: string;
  /** With descriptions in braces for what only the deployment can tell. */
  readonly path: string;
  /** Spaces at its end are counted instead of shown. */
  readonly body: string | undefined;
  readonly key: Ask['key'];
  readonly times: number;
  readonly why: string;
  /** The assumptions and documented replies that it is for. */
  readonly purposes: readonly string[];
}

/** The requests that a check sends, in order. Requests whose facts stay unknown are left out. */
export function planCheck(options: CheckOptions): PlannedRequest[] {
  return ASK_NAMES.filter((name) => needs(name, options).length === 0).flatMap((name) => {
    const { method, path, body, key, times = 1, why, each } = ASKS[name];
    const orders = each === undefined ? [undefined] : options.orders[each];
    return orders.map((order) => ({
      name,
      method,
      path: fill(path, (fact) => `{${FACTS[fact].description}}`, `${order}`),
      body: body === undefined ? undefined : bodyText(body),
      key,
      times,
      why,
      purposes: purposesOf(name),
    }));
  });
}

function bodyText(body: string): string {
  const shown = body.trimEnd();
  const spaces = body.length - shown.length;
  return spaces === 0 ? shown : `${shown} and ${spaces} spaces`;
}

/** What a request is for. */
function purposesOf(name: AskName): string[] {
  const replies = DOCUMENTED_REPLIES.filter((it) =>
    asksFor(it.operation, it.status).includes(name),
  );
  const assumptions = ASSUMPTION_IDS.filter((id) => {
    const probe = probeOf(id);
    return 'asks' in probe && [...probe.asks, ...(probe.also ?? [])].includes(name);
  });
  const named = replies.map(({ operation, status }) => `${operation} ${status}`);
  return [...new Set([...named, ...ruledBy(name), ...assumptions])];
}

/** What the user would have to give before a request can be sent. */
export function needs(name: AskName, options: CheckOptions): string[] {
  const { method, each, key, times = 1 } = ASKS[name];
  const { writes, orders, readOnlyKey, invalidKey, rate } = options;
  const before = factsOf(name).flatMap((fact) => FACTS[fact].after ?? []);
  const needed = [
    ...before.flatMap((earlier) => needs(earlier, options)),
    ...(writes || SAFE.test(method) ? [] : ['--writes']),
    ...(each === undefined || orders[each].length > 0 ? [] : [`--${each} ID`]),
    ...(key === 'read-only' && readOnlyKey === undefined ? ['--read-only-key KEY'] : []),
    ...(key === 'invalid' && invalidKey === undefined ? ['--invalid-key KEY'] : []),
    ...(times > rate ? [`--rate ${times} or more`] : []),
  ];
  return [...new Set(needed)];
}
