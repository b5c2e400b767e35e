import { ASK_NAMES, ASKS, type Ask, type AskName, BURST, type FactName } from './asks.ts';
import { type CheckOptions, needs } from './check-plan.ts';
import {
  type DeploymentClient,
  DeploymentError,
  type DeploymentRequest,
} from './deployment-client.ts';
import { FACTS, factsOf, fill } from './facts.ts';
import { Exchange, Seen } from './seen.ts';

/** What sends the requests of a check. */
export type Sender = Pick<DeploymentClient, 'send' | 'rest'>;

/** Consecutive requests without a reply after which a check makes sure that the deployment is there. */
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
    const facts = new Map(
      factsOf(name).map((fact) => [fact, FACTS[fact].find(seen, options.orders)] as const),
    );
    const unknown = [...facts].flatMap(([fact, value]) =>
      value === undefined ? [FACTS[fact].description] : [],
    );
    const missing = needs(name, options);
    if (missing.length + unknown.length > 0) {
      seen.skip(name, missing.length > 0 ? missing : unknown);
      continue;
    }
    progress(ASKS[name], done / ASK_NAMES.length);
    try {
      const exchanges = await send(client, name, facts, options);
      const limited = exchanges.find(({ status }) => status === 429);
      if (limited !== undefined && ASKS[name].times === undefined) {
        seen.skip(name, [`a higher rate limit: ${limited}`]);
      } else for (const exchange of exchanges) seen.add(exchange);
      failures = 0;
    } catch (error) {
      if (!(error instanceof DeploymentError) || done === 0) throw error;
      seen.fail(name, error.message);
      failures += 1;
      // Whether only these operations fail, or the deployment is gone.
      if (failures % MOST_FAILURES === 0) await send(client, 'pets1', NO_FACTS, options);
    }
    if (done === 0) requireAccess(seen.get(name));
  }
  return seen;
}

type Facts = ReadonlyMap<FactName, string | undefined>;

const NO_FACTS: Facts = new Map();

/** Sends a request as often as its definition says. */
async function send(
  client: Sender,
  name: AskName,
  facts: Facts,
  options: CheckOptions,
): Promise<Exchange[]> {
  const { each, times = 1 } = ASKS[name];
  const orders = each === undefined ? [undefined] : options.orders[each];
  const exchange = async (order: bigint | undefined) => {
    const request = requestOf(name, facts, order, options);
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

function requestOf(
  name: AskName,
  facts: Facts,
  order: bigint | undefined,
  options: CheckOptions,
): DeploymentRequest {
  const { method, path, body, headers, key } = ASKS[name];
  const filled = fill(path, (fact) => facts.get(fact) ?? '', `${order}`);
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
    401: 'the key is refused; give another with --key',
    403: 'the key is refused; give another with --key',
    404: 'is the base URL right? It ends in /v1',
  };
  const hint = location === undefined ? hints[first.status] : `it redirects to ${location}`;
  if (hint !== undefined) throw new DeploymentError(`${first}: ${hint}`);
}
