import { SUNSET_ENDS } from '../../../core/contract/operations.ts';
import { findById } from '../deployment-reply.ts';
import type { DeploymentFlags } from '../flags.ts';
import { DEPLOYMENT_DEFAULTS } from '../options.ts';
import { SAFE_METHODS } from '../transport.ts';
import { createModel, type DeploymentModel } from './deployment-model.ts';
import { noteReplies } from './facets.ts';
import { describeExchange, ProbeSender, type Sender } from './probe-sender.ts';
import { planSequences, ROUNDS, type Sequence } from './probes.ts';
import { isWhole, MAX_PAGE, SequenceRun, type Step } from './sequence-run.ts';

type Progress = (text: string) => void;

/** The first sequences read the lists from which the mocks start. */
const LISTS = 3;

type Answer = Awaited<ReturnType<ProbeSender['ask']>>;

export class DeploymentAsker {
  readonly notes = new Set<string>();
  readonly #sender: ProbeSender;
  readonly #flags: DeploymentFlags;
  readonly #plan: readonly Sequence[];
  readonly #progress: Progress;
  /** The lists of this round, which several sequences share. */
  readonly #read = new Map<string, Answer>();
  #lastId: bigint | undefined;

  constructor(client: Sender, flags: DeploymentFlags, progress: Progress) {
    this.#sender = new ProbeSender(client, flags);
    this.#flags = flags;
    this.#plan = planSequences(flags).filter(({ needs }) => needs.length === 0);
    this.#progress = progress;
  }

  get clock(): number {
    return this.#sender.clock;
  }

  /** Runs a round: reads the lists, runs each sequence, then reads the results of writes. */
  async runAll(earlier?: readonly SequenceRun[]): Promise<SequenceRun[]> {
    const model = await this.#readModel();
    const runs: SequenceRun[] = [];
    for (const [at, sequence] of this.#plan.entries()) {
      const round = earlier === undefined ? 1 : 2;
      this.#progress(`${round}/${ROUNDS}, ${at + 1}/${this.#plan.length}: ${sequence.why}`);
      const run = () => this.#run(sequence, model, earlier?.[at]);
      const first = await run();
      const isRepeated = first.reason !== undefined && this.#sender.failures > 0;
      runs.push(isRepeated && !sequence.probes.some((it) => it.isOnce) ? await run() : first);
    }
    await this.#readLate(runs);
    return runs;
  }

  async #readModel(): Promise<DeploymentModel> {
    this.#read.clear();
    const lists: Parameters<typeof createModel>[0][number][] = [];
    let hasAllAnimals = false;
    for (const { why, probes } of this.#plan.slice(0, LISTS)) {
      this.#progress(why);
      const [probe] = probes;
      const answer = probe && (await this.#ask({ at: 0, probe, path: probe.path }));
      const [list] = typeof answer === 'object' ? answer : [];
      lists.push(list?.isRead ? list.records : undefined);
      if (list?.probe.operation === 'listPets')
        hasAllAnimals = list.ids.length < MAX_PAGE && isWhole(list);
    }
    return createModel(lists, this.#flags, this.clock, hasAllAnimals);
  }

  async #ask(step: Step): Promise<Answer> {
    const { modifiers, method, times } = step.probe;
    if (times > 1 || !SAFE_METHODS.test(method)) return this.#sender.ask(step);
    const name = `${modifiers} ${method} ${step.path}`;
    const found = this.#read.get(name) ?? (await this.#sender.ask(step));
    if (typeof found === 'object') this.#read.set(name, found);
    return found;
  }

  /** Takes over from the round before what works only once, such as a cancel, even if refused. */
  async #run(
    sequence: Sequence,
    model: DeploymentModel,
    earlier: SequenceRun | undefined,
  ): Promise<SequenceRun> {
    const isWrong =
      sequence.orderName === 'SHIPPED' &&
      earlier?.exchanges.some((it) => it && it.reply.status < 300);
    const isOnce = isWrong || sequence.probes.some((probe) => probe.isOnce);
    const own = (isOnce ? earlier?.model : undefined) ?? model;
    const run = new SequenceRun(sequence, own, this.#lastId, { earlier });
    run.reason = explainSkip(run);
    if (run.reason !== undefined) return run;
    for (const step of run.steps(false)) {
      const before = isWrong || step.probe.isOnce ? earlier?.exchanges[step.at] : undefined;
      if (!note(run, step, before === undefined ? await this.#ask(step) : [before])) break;
    }
    this.#lastId = run.lastId ?? this.#lastId;
    return run;
  }

  /** Reads the results of writes, after so much time that no cache or replica is still behind. */
  async #readLate(all: readonly SequenceRun[]): Promise<void> {
    const { patience = DEPLOYMENT_DEFAULTS.patience } = this.#flags;
    const { time, lastWrite } = this.#sender;
    const runs = all.filter(({ sequence, reason }) => {
      return reason === undefined && sequence.probes.some(({ isLate }) => isLate);
    });
    if (runs.length === 0) return;
    const seconds = patience / 1000;
    let behind: string | undefined;
    for (const since of [() => lastWrite, () => time.now()]) {
      const wait = Math.max(0, since() + patience - time.now());
      this.#progress(`waiting ${Math.ceil(wait / 1000)} s for the effect of writes`);
      await time.wait(wait);
      this.#read.clear();
      for (const run of runs) {
        for (const step of run.steps(true)) note(run, step, await this.#ask(step));
      }
      behind = findBehind(all, lastWrite);
      this.notes.add(`Verdicts of no effect hold for a lag of up to ${seconds} s`);
      if (behind === undefined) return;
    }
    const why = `reads may be behind writes by more than ${seconds} s (--patience): ${behind}`;
    this.notes.add(why);
    for (const run of runs) {
      run.reason ??= why;
      for (const { at } of run.steps(true)) run.facets[at] = {};
    }
  }
}

/** @returns whether the sequence can go on */
function note(run: SequenceRun, step: Step, answer: Answer): boolean {
  if (typeof answer === 'string') {
    run.reason ??= answer;
    run.facets[step.at] = {};
    return false;
  }
  // The answer may come from a sequence that asked the same, so it gets this step's place.
  noteReplies(
    run,
    answer.map((exchange) => ({ ...exchange, ...step })),
  );
  return true;
}

/** Describes a late read that does not show what was written before it. */
function findBehind(runs: readonly SequenceRun[], lastWrite: number): string | undefined {
  const behind = runs.flatMap(({ exchanges, facets, placeholders, model }, index) => {
    const written = exchanges.findLast((it) => it?.probe.method === 'PATCH');
    const set = written?.reply.status === 200 ? written.probe.sent.quantity : undefined;
    return exchanges.filter((exchange, at) => {
      if (exchange?.probe.isLate !== true) return false;
      if (exchange.shownSince < lastWrite) return true;
      const { operation } = exchange.probe;
      const isOfNew = placeholders.has('NEW');
      const { status, [`stock of ${isOfNew ? 'NEW' : 'STOCK'}`]: stock } = facets[at] ?? {};
      if (operation === 'getPet') return status === '404' && model.clock < SUNSET_ENDS;
      if (set === undefined || stock === undefined || stock === String(set)) return false;
      // If the list has a later animal's entry, it is not behind: this entry has been lost.
      const later = runs.slice(index + 1).map((it) => it.idOf('NEW'));
      return !isOfNew || !later.some((id) => id !== undefined && exchange.ids.includes(id));
    });
  });
  return behind[0] && describeExchange(behind[0]);
}

/** Why the check leaves out a sequence, or the order in it. */
function explainSkip({ sequence, model }: SequenceRun): string | undefined {
  const { order, orderName, probes } = sequence;
  const isAboutAnimal = probes.some(({ path }) => path.includes('LISTED'));
  if (isAboutAnimal && !model.placeholders.has('LISTED')) return 'no animal is listed';
  if (order === undefined) return undefined;
  const listed = findById(model.lists.orders, order);
  if (listed === undefined) return `order ${order} is not listed, so it may not exist`;
  if (orderName !== 'SHIPPED') return undefined;
  const { status, complete, shipDate } = listed;
  const isDue = typeof shipDate === 'string' && Date.parse(shipDate) <= model.clock;
  const isShipped = status == null ? complete === true || isDue : status === 'shipped';
  if (isShipped) return undefined;
  return `GET /store/orders does not show that order ${order} has shipped, so it is not cancelled`;
}
