import { ASK_NAMES, ASKS, type Ask, type AskName, BURST } from './asks.ts';
import { type CheckOptions, needs } from './check-plan.ts';
import {
  type DeploymentClient,
  DeploymentError,
  type DeploymentRequest,
  isServerFailure,
  SAFE,
} from './deployment-client.ts';
import { EFFECTS } from './effects.ts';
import { FACTS, fill, unknownFacts } from './facts.ts';
import { Exchange, Seen } from './seen.ts';

/** What sends the requests of a check. */
export type Sender = Pick<DeploymentClient, 'send' | 'rest'>;

/** Consecutive requests without an answer after which a check makes sure that the deployment is there. */
const MOST_FAILURES = 3;

/** Seconds before a read is repeated that does not show the effect of writes, and the longest sum of them. */
const WAITS = [2, 4, 8];
const LONGEST_WAIT = { documented: 14, other: 6 };

/**
 * Sends the requests of a check.
 *
 * @param progress called before each request, with what it is for and the share that is done
 * @throws DeploymentError if the deployment cannot be reached, refuses the key or answers nothing
 */
export async function runCheck(
  client: Sender,
  options: CheckOptions,
  progress: (text: string, share: number) => void = () => {},
): Promise<Seen> {
  const run = new CheckRun(client, options);
  /** Reads since the last write whose effect is not known to be shown. */
  let reads: AskName[] = [];
  for (const [at, name] of ASK_NAMES.entries()) {
    const share = at / ASK_NAMES.length;
    const tell = (text: string) => progress(text, share);
    await run.ask(name, tell);
    if (EFFECTS[name] !== undefined) reads.push(name);
    const next = ASK_NAMES[at + 1];
    if (next !== undefined && EFFECTS[next] !== undefined) continue;
    await run.repeat(reads, tell);
    reads = [];
  }
  const { seen } = run;
  if (seen.everything.some(({ request }) => request.key === undefined)) return seen;
  throw new DeploymentError(
    `no request got an answer of the service: ${seen.whyUnknown('pets100')}`,
  );
}

class CheckRun {
  readonly seen = new Seen();
  readonly #client: Sender;
  readonly #options: CheckOptions;
  #failures = 0;
  /** Why no more requests are sent. */
  #end: string | undefined;
  /** The longest wait for an effect that the document does not prescribe. */
  #longest = LONGEST_WAIT.other;

  constructor(client: Sender, options: CheckOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** Sends a request, if what it needs is given and known. */
  async ask(name: AskName, progress: (text: string) => void): Promise<void> {
    const { seen } = this;
    const needed = needs(name, this.#options);
    if (needed.length > 0) return seen.skip(name, needed);
    if (this.#end !== undefined) return seen.fail(name, this.#end);
    const [unknown] = unknownFacts(name, seen, this.#options.orders);
    if (unknown?.why !== undefined) return seen.fail(name, unknown.why);
    if (unknown !== undefined) return seen.skip(name, [unknown.description]);
    progress(ASKS[name].why);
    await this.#send(name);
    if (name === ASK_NAMES[0]) requireAccess(seen.get(name));
    this.#failures = seen.get(name) === undefined ? this.#failures + 1 : 0;
    if (this.#failures > 0 && this.#failures % MOST_FAILURES === 0) {
      // Whether only some operations fail, or the deployment answers no more.
      const reply = await this.#exchange('pets1', undefined, 0);
      if (reply instanceof DeploymentError) throw reply;
      this.#end = this.#whyNoAnswer(reply);
    }
  }

  /** Sends reads again that do not show the effect of writes, until they do or waited long enough. */
  async repeat(reads: readonly AskName[], progress: (text: string) => void): Promise<void> {
    const { seen } = this;
    const lacking = () => reads.filter((name) => isBehind(seen, name));
    let waited = 0;
    for (const wait of WAITS) {
      const longest = (name: AskName) =>
        EFFECTS[name]?.documented ? LONGEST_WAIT.documented : this.#longest;
      const again = lacking().filter((name) => waited < longest(name));
      if (again.length === 0) break;
      progress(`waiting ${wait} s for the effect of writes`);
      this.#client.rest(wait * 1000);
      waited += wait;
      for (const name of again) {
        await this.#send(name, waited);
        const isLate = EFFECTS[name]?.documented && !lacking().includes(name);
        if (isLate) this.#longest = Math.max(this.#longest, waited);
      }
    }
    for (const name of lacking()) {
      seen.unaffected.add(name);
      if (EFFECTS[name]?.documented) seen.stale ??= seen.get(name);
    }
  }

  /** Sends a request and keeps the replies that answer it. */
  async #send(name: AskName, waited = 0): Promise<void> {
    const { seen } = this;
    const answers: Exchange[] = [];
    const reasons = new Set<string>();
    for (const it of await this.#exchanges(name, waited)) {
      if (it instanceof DeploymentError && name === ASK_NAMES[0]) throw it;
      const reason = it instanceof DeploymentError ? it.message : this.#whyNoAnswer(it);
      if (reason !== undefined) reasons.add(reason);
      else if (it instanceof Exchange) answers.push(it);
      seen.set(name, answers);
    }
    if (reasons.size === 0) return;
    seen.fail(name, [...reasons].join('; '));
    // A burst counts only as a whole.
    if (ASKS[name].times !== undefined) seen.set(name, []);
  }

  /** Why a reply says nothing about how the service answers the request. */
  #whyNoAnswer(exchange: Exchange): string | undefined {
    const { name, status, request } = exchange;
    const { operation, times, key } = ASKS[name];
    if (status === 429 && times === undefined) {
      return `${exchange}, Retry-After ${exchange.header('retry-after') ?? 'absent'}`;
    }
    if (isServerFailure(exchange)) return String(exchange);
    if (SAFE.test(request.method)) return undefined;
    const isKeyValid = key === undefined || key === 'read-only';
    const isRefused = status === 403 || status === 405 || (status === 401 && isKeyValid);
    const hasWritten = this.seen.everything.some(
      (it) =>
        ASKS[it.name].operation === operation &&
        it.request.key === undefined &&
        (it.accepted || it.status === 404 || it.status === 409),
    );
    return isRefused && !hasWritten ? `the key may not write: ${exchange}` : undefined;
  }

  /** Sends a request as often as its definition says. */
  async #exchanges(name: AskName, waited = 0): Promise<(Exchange | DeploymentError)[]> {
    const { each, times = 1 } = ASKS[name];
    if (times > 1) {
      this.#client.rest((BURST.seconds + 0.1) * 1000);
      return Promise.all(Array.from({ length: times }, () => this.#exchange(name, undefined, 0)));
    }
    const exchanges = [];
    for (const order of each === undefined ? [undefined] : this.#options.orders[each]) {
      exchanges.push(await this.#exchange(name, order, waited));
    }
    return exchanges;
  }

  async #exchange(
    name: AskName,
    order: bigint | undefined,
    waited: number,
  ): Promise<Exchange | DeploymentError> {
    const request = this.#requestOf(name, order);
    try {
      const reply = await this.#client.send(request, ASKS[name].times === undefined);
      return new Exchange(name, request, reply, order, waited);
    } catch (error) {
      if (error instanceof DeploymentError) return error;
      throw error;
    }
  }

  #requestOf(name: AskName, order: bigint | undefined): DeploymentRequest {
    const { method, path, body, headers, key } = ASKS[name];
    const known = (fact: keyof typeof FACTS) =>
      FACTS[fact].find(this.seen, this.#options.orders) ?? '';
    const filled = fill(path, known, `${order}`);
    return { method, path: filled, body, headers, key: keyFor(key, this.#options) };
  }
}

/** Whether a reply may be older than the writes before it. One that cannot be read shows nothing. */
function isBehind(seen: Seen, name: AskName): boolean {
  const exchange = seen.get(name);
  if (exchange === undefined || EFFECTS[name]?.isShown(seen)) return false;
  return !exchange.accepted || exchange.records !== undefined || exchange.record !== undefined;
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
