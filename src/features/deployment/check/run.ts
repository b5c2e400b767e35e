import { OPERATIONS } from '../../../core/contract/operations.ts';
import { isObject } from '../../../core/json.ts';
import { DEFAULTS } from '../../../core/limits.ts';
import { findHeader } from '../../../core/raw-http.ts';
import { DeploymentError } from '../deployment-client.ts';
import { findById, parseBody } from '../deployment-reply.ts';
import { createLists, type Facets, Scene } from './facets.ts';
import { readBurst, type World } from './predict.ts';
import { describeExchange, type ProbeExchange, ProbeSender, type Sender } from './probe-sender.ts';
import { type CheckOptions, planStories, ROUNDS, type Story } from './probes.ts';
import { aboutOrder, createWorld } from './world.ts';

/** A story as the deployment told it in one round. */
export interface Telling {
  readonly story: Story;
  readonly order: bigint | undefined;
  readonly world: World;
  readonly scene: Scene;
  /** By probe. */
  readonly exchanges: (ProbeExchange | undefined)[];
  readonly facets: Facets[];
  /** Why a probe got no answer of the service, or was not sent. */
  reason: string | undefined;
}

export interface CheckRun {
  /** Each has the same stories. */
  readonly rounds: readonly (readonly Telling[])[];
  readonly options: CheckOptions;
  /** By its `Date` header, in milliseconds since 1970. */
  readonly clock: number;
  readonly isMock: boolean;
  /** In words, for a report. */
  readonly notes: readonly string[];
}

const SUNSET_ENDS = Date.parse(OPERATIONS.getPet.sunset) + 24 * 60 * 60 * 1000;

/**
 * @param progress called before each request, with what it is for and the share that is done
 * @throws DeploymentError if the deployment cannot be reached, refuses the key or answers nothing
 */
export async function runCheck(
  client: Sender,
  options: CheckOptions,
  progress: (text: string, share: number) => void = () => {},
): Promise<CheckRun> {
  const runner = new Runner(client, options);
  const rounds: (readonly Telling[])[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const tell = (text: string, share: number) => progress(text, (round + share) / ROUNDS);
    rounds.push(await runner.round(rounds[0], tell));
  }
  const all = rounds.flatMap((round) => round.flatMap(({ exchanges }) => exchanges));
  const [first] = all;
  if (all.some((exchange) => exchange && exchange.probe.key === undefined)) {
    const isMock =
      first !== undefined && findHeader(first.reply.headers, 'mock-basis') !== undefined;
    return { rounds, options, clock: runner.clock, isMock, notes: [...runner.notes] };
  }
  const why = rounds[0]?.[0]?.reason;
  throw new DeploymentError(`no request got an answer from the service: ${why}`);
}

class Runner {
  clock = Date.now();
  readonly notes = new Set<string>();
  readonly #sender: ProbeSender;
  readonly #options: CheckOptions;
  readonly #plan: ReturnType<typeof planStories>;
  #lastId: bigint | undefined;

  constructor(client: Sender, options: CheckOptions) {
    this.#sender = new ProbeSender(client, options);
    this.#options = options;
    this.#plan = planStories(options);
  }

  async round(
    earlier: readonly Telling[] | undefined,
    progress: (text: string, share: number) => void,
  ): Promise<readonly Telling[]> {
    const lists = await this.#readLists(progress, earlier === undefined);
    const world = createWorld(lists.records, this.#options, this.clock);
    const tellings: Telling[] = [];
    for (const [at, { story, order }] of this.#plan.entries()) {
      progress(story.why, at / this.#plan.length);
      const known = earlier?.[at];
      const base = story.probes.some(({ isOnce }) => isOnce) ? (known?.world ?? world) : world;
      const word =
        order === undefined ? undefined : /[A-Z]{3,}/.exec(story.probes[0]?.path ?? '')?.[0];
      const own = word === undefined || order === undefined ? base : aboutOrder(base, word, order);
      const read = lists.found[at];
      tellings.push(await this.#tell({ story, order, world: own }, read, known));
    }
    await this.#readLate(tellings, progress);
    return tellings;
  }

  async #readLists(progress: (text: string, share: number) => void, isFirst: boolean) {
    const found: (ProbeExchange | string)[] = [];
    for (const { story } of this.#plan.slice(0, 3)) {
      const [probe] = story.probes;
      if (probe === undefined) throw new Error('A story has no probe.');
      progress(story.why, 0);
      found.push(await this.#sender.exchange(probe, probe.path, isFirst && found.length === 0));
      if (isFirst && found.length === 1) this.#meet(found[0]);
    }
    const lists = found.map((exchange) => {
      const json = typeof exchange === 'string' ? undefined : parseBody(exchange.reply.body);
      return Array.isArray(json) ? json.filter(isObject) : undefined;
    });
    return { records: createLists(lists), found };
  }

  #meet(first: ProbeExchange | string | undefined): void {
    if (first === undefined || typeof first === 'string') return;
    this.clock = Date.parse(findHeader(first.reply.headers, 'date') ?? '') || Date.now();
  }

  async #tell(
    told: Pick<Telling, 'story' | 'order' | 'world'>,
    read: ProbeExchange | string | undefined,
    known: Telling | undefined,
  ): Promise<Telling> {
    for (let tries = 1; ; tries += 1) {
      const telling = await this.#tellOnce(told, read, known);
      const { story, scene, reason } = telling;
      this.#lastId = scene.lastId ?? this.#lastId;
      const isOver = tries === 2 || read !== undefined || story.probes.some(({ isOnce }) => isOnce);
      if (reason === undefined || isOver || !this.#sender.isFailing) return telling;
    }
  }

  async #tellOnce(
    told: Pick<Telling, 'story' | 'order' | 'world'>,
    read: ProbeExchange | string | undefined,
    known: Telling | undefined,
  ): Promise<Telling> {
    const { story, world } = told;
    const scene = new Scene(world.lists, world.words, this.#lastId, world.lists.animalIds);
    const telling: Telling = { ...told, scene, exchanges: [], facets: [], reason: undefined };
    telling.reason = spareOrder(telling, this.clock);
    let isAccepted = true;
    for (const [at, probe] of story.probes.entries()) {
      if (telling.reason !== undefined) break;
      const path = scene.fill(probe.path);
      if (path === undefined && probe.path.includes('LISTED'))
        telling.reason = 'no animal is listed';
      if (probe.isLate || path === undefined || (probe.isFollowing && !isAccepted)) continue;
      const once = probe.isOnce ? known?.exchanges[at] : undefined;
      const one = read ?? once;
      const found =
        typeof one === 'object' ? [one] : (one ?? (await this.#sender.ask(probe, path)));
      if (typeof found === 'string') telling.reason = found;
      if (typeof found === 'string') continue;
      const [exchange, ...others] = found;
      if (exchange === undefined) continue;
      telling.exchanges[at] = exchange;
      isAccepted = exchange.reply.status < 300;
      const replies = [exchange, ...others].map(({ reply }) => reply);
      telling.facets[at] = probe.times > 1 ? readBurst(replies) : scene.read(probe, exchange.reply);
    }
    return telling;
  }

  /** Reads what became of writes when no read may be behind them any more. */
  async #readLate(
    tellings: readonly Telling[],
    progress: (text: string, share: number) => void,
  ): Promise<void> {
    const { patience = DEFAULTS.patience } = this.#options;
    const { time } = this.#sender;
    if (!tellings.some(hasLate) || this.#sender.lastWrite === Number.NEGATIVE_INFINITY) return;
    for (let tries = 1; ; tries += 1) {
      const wait = Math.max(
        0,
        (tries === 1 ? this.#sender.lastWrite : time.now()) + patience - time.now(),
      );
      progress(`waiting ${Math.ceil(wait / 1000)} s for the effect of writes`, 1);
      await time.wait(wait);
      const reads = new Map<string, ProbeExchange | string>();
      for (const telling of tellings.filter(hasLate)) await this.#readLateOf(telling, reads);
      const behind = tellings.flatMap((telling) => this.#findBehind(telling) ?? []);
      if (behind.length === 0) return;
      const [first] = behind;
      if (tries < 2 && patience > 0) continue;
      const why = `reads may be behind writes by more than ${patience / 1000} s (--patience): ${first}`;
      this.notes.add(why);
      for (const telling of tellings.filter(hasLate)) {
        telling.reason ??= why;
        for (const [at, { isLate }] of telling.story.probes.entries()) {
          if (isLate) telling.facets[at] = {};
        }
      }
      return;
    }
  }

  async #readLateOf(telling: Telling, reads: Map<string, ProbeExchange | string>): Promise<void> {
    const { story, scene } = telling;
    for (const [at, probe] of story.probes.entries()) {
      const path = scene.fill(probe.path);
      if (!probe.isLate || path === undefined) continue;
      const found = reads.get(path) ?? (await this.#sender.exchange(probe, path));
      reads.set(path, found);
      if (typeof found === 'string') {
        telling.reason ??= found;
        telling.facets[at] = {};
      } else {
        telling.exchanges[at] = found;
        telling.facets[at] = scene.read(probe, found.reply);
      }
    }
  }

  /** A late read that does not show what was written, in words. */
  #findBehind({ story, scene, exchanges }: Telling): string | undefined {
    const accepted = exchanges.filter((each) => each && each.reply.status < 300);
    const stocked = accepted.findLast((each) => each?.probe.method === 'PATCH');
    const sent = parseBody(Buffer.from(stocked?.probe.body ?? ''));
    const late = story.probes.flatMap(({ isLate }, at) => (isLate ? (exchanges[at] ?? []) : []));
    const behind = late.find(({ probe, reply, shownSince }) => {
      if (shownSince < this.#sender.lastWrite) return true;
      if (probe.operation === 'getPet') return reply.status === 404 && this.clock < SUNSET_ENDS;
      if (probe.operation !== 'listInventory' || !isObject(sent)) return false;
      const list = parseBody(reply.body);
      if (!Array.isArray(list)) return false;
      const id = scene.idOf('NEW') ?? scene.idOf('STOCK');
      return findById(list.filter(isObject), id, 'petId')?.quantity !== sent.quantity;
    });
    return behind && describeExchange(behind);
  }
}

function hasLate({ story, reason }: Telling): boolean {
  return reason === undefined && story.probes.some(({ isLate }) => isLate);
}

/** Why a check leaves an order alone. */
function spareOrder({ order, world, story }: Telling, now: number): string | undefined {
  if (order === undefined) return undefined;
  const listed = findById(world.lists.orders, order);
  if (listed === undefined) return `order ${order} is not listed, so it may not exist`;
  if (!story.needs.includes('--shipped ID')) return undefined;
  const { status, complete, shipDate } = listed;
  const isDue = typeof shipDate === 'string' && Date.parse(shipDate) <= now;
  const isShipped = status == null ? complete === true || isDue : status === 'shipped';
  if (isShipped) return undefined;
  return `GET /store/orders does not show that order ${order} has shipped, so it is not cancelled`;
}
