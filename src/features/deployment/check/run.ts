import { DAY_MS } from '../../../core/contract/date-time.ts';
import { OPERATIONS } from '../../../core/contract/operations.ts';
import { isObject } from '../../../core/json.ts';
import { DEFAULTS } from '../../../core/limits.ts';
import { DeploymentError } from '../deployment-client.ts';
import { findById, parseBody, readIds } from '../deployment-reply.ts';
import type { DeploymentFlags } from '../flags.ts';
import { SAFE_METHODS } from '../transport.ts';
import { readReplies } from './facets.ts';
import type { Exhibit } from './predict.ts';
import { describeExchange, ProbeSender, type Sender } from './probe-sender.ts';
import { planStories, ROUNDS, type Story } from './probes.ts';
import { type Facets, isWhole, MAX_PAGE, readShown, Scene, type Step } from './scene.ts';
import { createWorld, type World } from './world.ts';

export interface CheckRun {
  readonly stories: readonly Exhibit[];
  readonly options: DeploymentFlags;
  /** By its `Date` header, in milliseconds since 1970. */
  readonly clock: number;
  /** In words, for a report. */
  readonly notes: readonly string[];
}

type Progress = (text: string) => void;

const SUNSET_ENDS = Date.parse(OPERATIONS.getPet.sunset) + DAY_MS;

/**
 * @param progress called before each request, with what it is for
 * @throws DeploymentError if the deployment cannot be reached, refuses the key or answers nothing
 */
export async function runCheck(
  client: Sender,
  options: DeploymentFlags,
  progress: Progress = () => {},
): Promise<CheckRun> {
  const teller = new StoryTeller(client, options, progress);
  const rounds: (readonly Scene[])[] = [];
  while (rounds.length < ROUNDS) rounds.push(await teller.round(rounds[0]));
  const [first = [], last = []] = rounds;
  const stories = last.map((scene, at): Exhibit => {
    const { story, world } = scene;
    const scenes = rounds.flatMap((round) => round[at] ?? []);
    const seen = story.probes.map((_, probe) => commonFacets(scenes, probe));
    return { story, world, scenes, seen };
  });
  const exchanges = rounds.flat().flatMap((scene) => scene.exchanges.flatMap((it) => it ?? []));
  if (!exchanges.some(({ probe }) => probe.key === undefined)) {
    throw new DeploymentError(`no request got an answer from the service: ${first[0]?.reason}`);
  }
  const { clock } = teller.sender;
  return { stories, options, clock, notes: [...teller.notes] };
}

function commonFacets(scenes: readonly Scene[], at: number): Facets {
  const [first = {}, ...others] = scenes.map(({ facets }) => facets[at] ?? {});
  return Object.fromEntries(
    Object.entries(first).filter(([name, value]) => others.every((other) => other[name] === value)),
  );
}

/** The stories that read the records from which a mock starts come first. */
const LISTS = 3;

type Answer = Awaited<ReturnType<ProbeSender['ask']>>;

/** Tells all stories to a deployment, round by round. */
class StoryTeller {
  readonly notes = new Set<string>();
  readonly sender: ProbeSender;
  readonly #options: DeploymentFlags;
  readonly #plan: readonly Story[];
  readonly #progress: Progress;
  /** Several stories read the same lists. */
  readonly #read = new Map<string, Answer>();
  #lastId: bigint | undefined;

  constructor(client: Sender, options: DeploymentFlags, progress: Progress) {
    this.sender = new ProbeSender(client, options);
    this.#options = options;
    this.#plan = planStories(options).filter(({ needs }) => needs.length === 0);
    this.#progress = progress;
  }

  async round(earlier: readonly Scene[] | undefined): Promise<Scene[]> {
    const world = await this.#readWorld();
    const scenes: Scene[] = [];
    for (const [at, story] of this.#plan.entries()) {
      const round = earlier === undefined ? 1 : 2;
      this.#progress(`${round}/${ROUNDS}, ${at + 1}/${this.#plan.length}: ${story.why}`);
      const tell = () => this.#tell(story, world, earlier?.[at]);
      const scene = await tell();
      const isRepeated = scene.reason !== undefined && this.sender.failures > 0;
      scenes.push(isRepeated && !story.probes.some((it) => it.isOnce) ? await tell() : scene);
    }
    await this.#readLate(scenes);
    return scenes;
  }

  async #readWorld(): Promise<World> {
    this.#read.clear();
    const lists: Parameters<typeof createWorld>[0][number][] = [];
    let hasAllAnimals = false;
    for (const { why, probes } of this.#plan.slice(0, LISTS)) {
      this.#progress(why);
      const [probe] = probes;
      const found = probe && (await this.#ask({ at: 0, probe, path: probe.path }));
      const [{ reply } = {}] = typeof found === 'object' ? found : [];
      const shown = probe && reply && { ...readShown(probe, reply), reply };
      lists.push(shown?.isRead ? shown.records : undefined);
      if (shown !== undefined && probe?.operation === 'listPets')
        hasAllAnimals = shown.ids.length < MAX_PAGE && isWhole(shown);
    }
    return createWorld(lists, this.#options, this.sender.clock, hasAllAnimals);
  }

  async #ask(step: Step): Promise<Answer> {
    const { words, method, times } = step.probe;
    if (times > 1 || !SAFE_METHODS.test(method)) return this.sender.ask(step);
    const name = `${words} ${method} ${step.path}`;
    const found = this.#read.get(name) ?? (await this.sender.ask(step));
    if (typeof found === 'object') this.#read.set(name, found);
    return found;
  }

  /** What the deployment does only once, it told in the round before: also a cancel that it had to refuse. */
  async #tell(story: Story, world: World, earlier: Scene | undefined): Promise<Scene> {
    const isWrong =
      story.orderWord === 'SHIPPED' && earlier?.exchanges.some((it) => it && it.reply.status < 300);
    const isOnce = isWrong || story.probes.some((probe) => probe.isOnce);
    const own = (isOnce ? earlier?.world : undefined) ?? world;
    const scene = new Scene(story, own, this.#lastId, { earlier });
    scene.reason = explainSkip(scene);
    if (scene.reason !== undefined) return scene;
    for (const step of scene.steps(false)) {
      const told = isWrong || step.probe.isOnce ? earlier?.exchanges[step.at] : undefined;
      if (!take(scene, step, told === undefined ? await this.#ask(step) : [told])) break;
    }
    this.#lastId = scene.lastId ?? this.#lastId;
    return scene;
  }

  /** Reads what became of writes when no read may be behind them any more. */
  async #readLate(all: readonly Scene[]): Promise<void> {
    const { patience = DEFAULTS.patience } = this.#options;
    const { time, lastWrite } = this.sender;
    const scenes = all.filter(({ story, reason }) => {
      return reason === undefined && story.probes.some(({ isLate }) => isLate);
    });
    if (scenes.length === 0) return;
    const seconds = patience / 1000;
    let behind: string | undefined;
    for (const since of [() => lastWrite, () => time.now()]) {
      const wait = Math.max(0, since() + patience - time.now());
      this.#progress(`waiting ${Math.ceil(wait / 1000)} s for the effect of writes`);
      await time.wait(wait);
      this.#read.clear();
      for (const scene of scenes) {
        for (const step of scene.steps(true)) take(scene, step, await this.#ask(step));
      }
      behind = findBehind(all, lastWrite);
      this.notes.add(`Verdicts of no effect hold for a lag of up to ${seconds} s`);
      if (behind === undefined) return;
    }
    const why = `reads may be behind writes by more than ${seconds} s (--patience): ${behind}`;
    this.notes.add(why);
    for (const scene of scenes) {
      scene.reason ??= why;
      for (const { at } of scene.steps(true)) scene.facets[at] = {};
    }
  }
}

/** @returns whether the story goes on */
function take(scene: Scene, step: Step, found: Answer): boolean {
  if (typeof found === 'string') {
    scene.reason ??= found;
    scene.facets[step.at] = {};
    return false;
  }
  scene.exchanges[step.at] = found[0];
  readReplies(
    scene,
    step,
    found.map(({ reply }) => reply),
  );
  return true;
}

/** A late read that does not show what was written, in words. */
function findBehind(scenes: readonly Scene[], lastWrite: number): string | undefined {
  const behind = scenes.flatMap(({ exchanges, facets, words, world }, index) => {
    const written = exchanges.findLast((it) => it?.probe.method === 'PATCH');
    const set = written?.reply.status === 200 ? written.probe.sent.quantity : undefined;
    return exchanges.filter((exchange, at) => {
      if (exchange?.probe.isLate !== true) return false;
      if (exchange.shownSince < lastWrite) return true;
      const { operation } = exchange.probe;
      const { status, [`stock of ${words.has('NEW') ? 'NEW' : 'STOCK'}`]: stock } =
        facets[at] ?? {};
      if (operation === 'getPet') return status === '404' && world.clock < SUNSET_ENDS;
      if (set === undefined || stock === undefined || stock === String(set)) return false;
      // A list that has the entry of a later animal has lost the stock.
      const listed = readIds([parseBody(exchange.reply.body)].flat().filter(isObject), 'petId');
      const later = scenes.slice(index + 1).map((it) => it.idOf('NEW'));
      return !words.has('NEW') || !later.some((id) => id !== undefined && listed.includes(id));
    });
  });
  return behind[0] && describeExchange(behind[0]);
}

/** Why a check leaves a story or its order alone. */
function explainSkip({ story, world }: Scene): string | undefined {
  const { order } = story;
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
