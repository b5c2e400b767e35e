import { ASSUMPTION_IDS } from '../contract/assumption-table.ts';
import { DOCUMENTED_REPLIES } from '../contract/cases.ts';
import { listed } from '../words.ts';
import { ASK_NAMES, ASKS, type Ask, type AskName, BURST, type FactName } from './asks.ts';
import {
  type DeploymentClient,
  DeploymentError,
  type DeploymentRequest,
  SAFE,
} from './deployment-client.ts';
import { ruledBy } from './document-rules.ts';
import { FACTS, type NamedOrders } from './facts.ts';
import { asksFor, probeOf } from './probe-table.ts';
import { Exchange, Seen } from './seen.ts';

/** What a check may do, and what it is told. */
export interface CheckOptions {
  readonly writes: boolean;
  readonly orders: NamedOrders;
  readonly readOnlyKey?: string | undefined;
  readonly invalidKey?: string | undefined;
  /** Requests per second. */
  readonly rate: number;
}

/** What sends the requests of a check. */
export type Sender = Pick<DeploymentClient, 'send' | 'rest'>;

/** A request that a check sends, before what it depends on is known. */
export interface PlannedRequest {
  readonly name: AskName;
  readonly method: string;
  /** With descriptions in braces for what only the deployment can tell. */
  readonly path: string;
  readonly body: string | undefined;
  readonly key: Ask['key'];
  readonly times: number;
  readonly why: string;
  /** The assumptions and documented replies that it is for. */
  readonly purposes: readonly string[];
}

const PLACEHOLDER = /\{(\w+)\}/g;

/** The requests that a check sends, in order. What turns out to be unknown is left out. */
export function planCheck(options: CheckOptions): PlannedRequest[] {
  return ASK_NAMES.filter((name) => needs(ASKS[name], options).length === 0).flatMap((name) => {
    const { method, path, body, key, times = 1, why, each } = ASKS[name];
    const orders = each === undefined ? [undefined] : options.orders[each];
    return orders.map((order) => ({
      name,
      method,
      path: path.replaceAll(PLACEHOLDER, (_, fact) =>
        isFact(fact) ? `{${FACTS[fact].description}}` : `${order}`,
      ),
      body,
      key,
      times,
      why,
      purposes: purposesOf(name),
    }));
  });
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
function needs({ method, each, key, times = 1 }: Ask, options: CheckOptions): string[] {
  const { writes, orders, readOnlyKey, invalidKey, rate } = options;
  return [
    ...(writes || SAFE.test(method) ? [] : ['--writes']),
    ...(each === undefined || orders[each].length > 0 ? [] : [`--${each} ID`]),
    ...(key === 'read-only' && readOnlyKey === undefined ? ['--read-only-key KEY'] : []),
    ...(key === 'invalid' && invalidKey === undefined ? ['--invalid-key KEY'] : []),
    ...(times > rate ? [`--rate ${times} or more`] : []),
  ];
}

function isFact(name: string): name is FactName {
  return Object.hasOwn(FACTS, name);
}

/** So many requests without a reply, one after the other, end a check. */
const MOST_FAILURES = 3;

/**
 * Sends the requests of a check.
 *
 * @param progress called before each request, with the share that is done
 * @throws DeploymentError if the deployment cannot be reached or refuses the key
 */
export async function runCheck(
  client: Sender,
  options: CheckOptions,
  progress: (ask: Ask, share: number) => void = () => {},
): Promise<Seen> {
  const seen = new Seen();
  let failures = 0;
  for (const [done, name] of ASK_NAMES.entries()) {
    const missing = needs(ASKS[name], options);
    const facts = factsFor(name, seen, options);
    for (const [fact, value] of Object.entries(facts)) {
      if (missing.length === 0 && value === undefined && isFact(fact))
        missing.push(FACTS[fact].description);
    }
    if (missing.length > 0) {
      seen.skip(name, listed(missing, 'and'));
      continue;
    }
    progress(ASKS[name], done / ASK_NAMES.length);
    try {
      for (const exchange of await send(client, name, facts, options)) seen.add(exchange);
      failures = 0;
    } catch (error) {
      failures += 1;
      if (!(error instanceof DeploymentError) || done === 0 || failures === MOST_FAILURES)
        throw error;
      seen.fail(name, error.message);
    }
    if (done === 0) requireAccess(seen.get(name));
  }
  return seen;
}

type Facts = Readonly<Record<string, string | undefined>>;

function factsFor(name: AskName, seen: Seen, { orders }: CheckOptions): Facts {
  const { path, given } = ASKS[name];
  const names = [...path.matchAll(PLACEHOLDER)].flatMap(([, fact = '']) =>
    isFact(fact) ? [fact] : [],
  );
  if (given !== undefined) names.push(given);
  return Object.fromEntries(names.map((fact) => [fact, FACTS[fact].find(seen, orders)]));
}

/** Sends a request as often as it is to be sent. */
async function send(
  client: Sender,
  name: AskName,
  facts: Facts,
  options: CheckOptions,
): Promise<Exchange[]> {
  const { each, times = 1 } = ASKS[name];
  const orders = each === undefined ? [undefined] : options.orders[each];
  const exchange = async (order: bigint | undefined) => {
    const request = requestOf(name, { ...facts, order: String(order) }, options);
    return new Exchange(name, request, await client.send(request, times === 1), order);
  };
  if (times > 1) {
    client.rest((BURST.seconds + 0.1) * 1000);
    return Promise.all(Array.from({ length: times }, () => exchange(undefined)));
  }
  const exchanges: Exchange[] = [];
  for (const order of orders) exchanges.push(await exchange(order));
  return exchanges;
}

function requestOf(name: AskName, facts: Facts, options: CheckOptions): DeploymentRequest {
  const { method, path, body, headers, key } = ASKS[name];
  const filled = path.replaceAll(PLACEHOLDER, (_, fact) => facts[fact] ?? '');
  return { method, path: filled, body, headers, key: keyFor(key, options) };
}

/** Undefined stands for the deployment's own key. */
function keyFor(
  key: Ask['key'],
  { readOnlyKey, invalidKey }: CheckOptions,
): string | null | undefined {
  switch (key) {
    case 'none':
      return null;
    case 'unknown':
      return UNKNOWN_KEY;
    case 'invalid':
      return invalidKey;
    case 'read-only':
      return readOnlyKey;
    case undefined:
      return undefined;
  }
}

/** A key that no deployment has given out. */
const UNKNOWN_KEY = 'petstore-mock-check-unknown-key';

/** @throws DeploymentError if the first reply shows that the rest makes no sense */
function requireAccess(first: Exchange | undefined): void {
  if (first === undefined || first.accepted) return;
  const location = first.header('location');
  const hints: Readonly<Record<number, string>> = {
    401: 'the key is refused: --key gives another',
    403: 'the key is refused: --key gives another',
    404: 'is the base URL right? It ends in /v1',
  };
  const hint = location === undefined ? hints[first.status] : `it redirects to ${location}`;
  if (hint !== undefined) throw new DeploymentError(`${first}: ${hint}`);
}
