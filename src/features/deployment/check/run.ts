import { OPERATIONS } from '../../../core/contract/operations.ts';
import { isObject } from '../../../core/json.ts';
import { DEFAULTS } from '../../../core/limits.ts';
import { findHeader } from '../../../core/raw-http.ts';
import { DeploymentError } from '../deployment-client.ts';
import { findById, parseBody, type ReplyRecord } from '../deployment-reply.ts';
import type { DeploymentFlags } from '../flags.ts';
import { readReplies } from './facets.ts';
import type { Exhibit } from './predict.ts';
import { describeExchange, type ProbeExchange, ProbeSender, type Sender } from './probe-sender.ts';
import { planStories, ROUNDS, type Step, type Story } from './probes.ts';
import { type Facets, Scene } from './scene.ts';
import { aboutOrder, createLists, createWorld, type World } from './world.ts';

export interface CheckedStory extends Exhibit {
  /** One for each round. */
  readonly scenes: readonly Scene[];
}

export interface CheckRun {
  readonly stories: readonly CheckedStory[];
  readonly options: DeploymentFlags;
  /** By its `Date` header, in milliseconds since 1970. */
  readonly clock: number;
  readonly isMock: boolean;
  /** In words, for a report. */
  readonly notes: readonly string[];
}

type Progress = (text: string, share: number) => void;

const SUNSET_ENDS = Date.parse(OPERATIONS.getPet.sunset) + 24 * 60 * 60 * 1000;

/**
 * @param progress called before each request, with what it is for and the share that is done
 * @throws DeploymentError if the deployment cannot be reached, refuses the key or answers nothing
 */
export async function runCheck(
  client: Sender,
  options: DeploymentFlags,
  progress: Progress = () => {},
): Promise<CheckRun> {
  const runner = new Runner(client, options);
  const rounds: (readonly Scene[])[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const tell: Progress = (text, share) => progress(text, (round + share) / ROUNDS);
    rounds.push(await runner.round(rounds[0], tell));
  }
  const [first = [], last = []] = rounds;
  const stories = last.map((scene, at): CheckedStory => {
    const { story, world } = scene;
    const scenes = rounds.flatMap((round) => round[at] ?? []);
    const seen = story.probes.map((_, probe) => commonFacets(scenes, probe));
    return { story, world, scenes, seen };
  });
  const exchanges = rounds.flat().flatMap((scene) => scene.exchanges.flatMap((it) => it ?? []));
  if (!exchanges.some(({ probe }) => probe.key === undefined)) {
    throw new DeploymentError(`no request got an answer from the service: ${first[0]?.reason}`);
  }
  const isMock = findHeader(exchanges[0]?.reply.headers ?? [], 'mock-basis') !== undefined;
  return { stories, options, clock: runner.sender.clock, isMock, notes: runner.notes };
}

function commonFacets(scenes: readonly Scene[], at: number): Facets {
  const [first = {}, ...others] = scenes.map(({ facets }) => facets[at] ?? {});
  return Object.fromEntries(
    Object.entries(first).filter(([name, value]) => others.every((other) => other[name] === value)),
  );
}

/** The stories that read the records from which a mock starts come first. */
const LISTS = 3;

class Runner {
  readonly notes: string[] = [];
  readonly sender: ProbeSender;
  readonly #options: DeploymentFlags;
  readonly #plan: ReturnType<typeof planStories>;
  /** What several stories read. */
  readonly #lists = new Map<string, ProbeExchange | string>();
  #lastId: bigint | undefined;

  constructor(client: Sender, options: DeploymentFlags) {
    this.sender = new ProbeSender(client, options);
    this.#options = options;
    this.#plan = planStories(options);
  }

  async round(earlier: readonly Scene[] | undefined, progress: Progress): Promise<Scene[]> {
    const world = await this.#readWorld(progress);
    const scenes: Scene[] = [];
    for (const [at, { story, order }] of this.#plan.entries()) {
      progress(story.why, at / this.#plan.length);
      const isOnce = story.probes.some((probe) => probe.isOnce);
      const known = isOnce ? earlier?.[at] : undefined;
      const own = order === undefined ? world : aboutOrder(world, story.orderWord ?? '', order);
      const tell = () => this.#tell(story, known?.world ?? own, order, known);
      const scene = await tell();
      const isRepeated = scene.reason !== undefined && this.sender.isFailing && !isOnce;
      scenes.push(isRepeated ? await tell() : scene);
    }
    await this.#readLate(scenes, progress);
    return scenes;
  }

  async #readWorld(progress: Progress): Promise<World> {
    this.#lists.clear();
    const lists: (readonly ReplyRecord[] | undefined)[] = [];
    for (const { story } of this.#plan.slice(0, LISTS)) {
      progress(story.why, 0);
      const [probe] = story.probes;
      const found = probe && (await this.#readList({ at: 0, probe, path: probe.path }));
      const json = typeof found === 'object' ? parseBody(found.reply.body) : undefined;
      lists.push(Array.isArray(json) ? json.filter(isObject) : undefined);
    }
    return createWorld(createLists(lists), this.#options, this.sender.clock);
  }

  async #readList(step: Step): Promise<ProbeExchange | string> {
    const found = this.#lists.get(nameOf(step)) ?? (await this.sender.exchange(step));
    this.#lists.set(nameOf(step), found);
    return found;
  }

  /** @param known what the deployment told in the round before, if it is asked only once */
  async #tell(story: Story, world: World, order: bigint | undefined, known: Scene | undefined) {
    const scene = new Scene(story, world, this.#lastId);
    scene.reason = explainSkip(scene, order);
    if (scene.reason !== undefined) return scene;
    for (const step of scene.steps(false)) {
      const once = step.probe.isOnce ? known?.exchanges[step.at] : undefined;
      const found = once ?? this.#lists.get(nameOf(step)) ?? (await this.sender.ask(step));
      if (!take(scene, step, found)) break;
    }
    this.#lastId = scene.lastId ?? this.#lastId;
    return scene;
  }

  /** Reads what became of writes when no read may be behind them any more. */
  async #readLate(all: readonly Scene[], progress: Progress): Promise<void> {
    const { patience = DEFAULTS.patience } = this.#options;
    const { time, lastWrite } = this.sender;
    const scenes = all.filter(({ story, reason }) => {
      return reason === undefined && story.probes.some(({ isLate }) => isLate);
    });
    if (scenes.length === 0) return;
    let behind: string | undefined;
    for (const since of [() => lastWrite, () => time.now()]) {
      const wait = Math.max(0, since() + patience - time.now());
      progress(`waiting ${Math.ceil(wait / 1000)} s for the effect of writes`, 1);
      await time.wait(wait);
      this.#lists.clear();
      for (const scene of scenes) {
        for (const step of scene.steps(true)) take(scene, step, await this.#readList(step));
      }
      [behind] = scenes.flatMap((scene) => findBehind(scene, lastWrite) ?? []);
      if (behind === undefined) return;
    }
    const why = `reads may be behind writes by more than ${patience / 1000} s (--patience): ${behind}`;
    this.notes.push(why);
    for (const scene of scenes) {
      scene.reason ??= why;
      for (const { at } of scene.steps(true)) scene.facets[at] = {};
    }
  }
}

function nameOf({ probe, path }: Step): string {
  return `${probe.words} ${probe.method} ${path}`;
}

/** @returns whether the story goes on */
function take(
  scene: Scene,
  step: Step,
  found: ProbeExchange | readonly ProbeExchange[] | string,
): boolean {
  if (typeof found === 'string') {
    scene.reason ??= found;
    scene.facets[step.at] = {};
    return false;
  }
  const all = [found].flat();
  scene.exchanges[step.at] = all[0];
  readReplies(
    scene,
    step,
    all.map(({ reply }) => reply),
  );
  return true;
}

/** A late read that does not show what was written, in words. */
function findBehind({ exchanges, facets, world, words }: Scene, lastWrite: number) {
  const written = exchanges.findLast((it) => it?.probe.method === 'PATCH' && it.reply.status < 300);
  const entry = `entry of ${words.has('NEW') ? 'NEW' : 'STOCK'}`;
  const behind = exchanges.find((exchange, at) => {
    if (exchange?.probe.isLate !== true) return false;
    if (exchange.shownSince < lastWrite) return true;
    const { status, [entry]: shown } = facets[at] ?? {};
    if (exchange.probe.operation === 'getPet') return status === '404' && world.clock < SUNSET_ENDS;
    const isOld = shown?.startsWith(`${written?.probe.sent.quantity},`) === false;
    return written !== undefined && isOld;
  });
  return behind && describeExchange(behind);
}

/** Why a check leaves a story or its order alone. */
function explainSkip({ story, world }: Scene, order: bigint | undefined): string | undefined {
  const isAboutAnimal = story.probes.some(({ path }) => path.includes('LISTED'));
  if (isAboutAnimal && !world.words.has('LISTED')) return 'no animal is listed';
  if (order === undefined) return undefined;
  const listed = findById(world.lists.orders, order);
  if (listed === undefined) return `order ${order} is not listed, so it may not exist`;
  if (story.orderWord !== 'SHIPPED') return undefined;
  const { status, complete, shipDate } = listed;
  const isDue = typeof shipDate === 'string' && Date.parse(shipDate) <= world.clock;
  const isShipped = status == null ? complete === true || isDue : status === 'shipped';
  if (isShipped) return undefined;
  return `GET /store/orders does not show that order ${order} has shipped, so it is not cancelled`;
}
