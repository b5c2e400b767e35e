import {
  ASSUMPTION_IDS,
  type AssumptionId,
  chooseOptions,
} from '../../../core/contract/assumption-table.ts';
import type { OperationId } from '../../../core/contract/operations.ts';
import { DOCUMENTED_REPLIES } from '../../../core/contract/possible-replies.ts';
import { DEFAULTS } from '../../../core/limits.ts';
import { joinWords } from '../../../core/words.ts';
import { distinct, isViolation } from '../deployment-reply.ts';
import { type CheckReport, OTHER_CLIENT, type ReplyVerdict } from './check-report.ts';
import { listBodyDifferences, listUnexplained } from './differences.ts';
import { Scene } from './facets.ts';
import { type Evidence, Fit, VOLATILE } from './fit.ts';
import { commonFacets, type Exhibit, tellStory } from './predict.ts';
import { describeExchange, type ProbeExchange } from './probe-sender.ts';
import { BURST, missingNeeds } from './probes.ts';
import type { CheckRun, Telling } from './run.ts';
import type { AssumptionVerdict } from './saved-verdicts.ts';
import { listUnasked } from './unasked.ts';

export function createCheckReport(run: CheckRun): CheckReport {
  const judge = new Judge(run);
  const { patience = DEFAULTS.patience } = run.options;
  const isAfterWrites = run.rounds.flat().some(({ story, reason }) => {
    return reason === undefined && story.probes.some(({ isLate }) => isLate);
  });
  return {
    assumptions: ASSUMPTION_IDS.map((id) => judge.judgeAssumption(id)),
    replies: judge.judgeReplies(),
    holdsForLag: isAfterWrites ? Math.floor(patience / 1000) : undefined,
  };
}

/** The share of the assumptions that a check has to settle to say anything about a deployment. */
const MIN_SETTLED_SHARE = 1 / 4;

export function findShortfall({ assumptions }: CheckReport): number | undefined {
  const wanted = Math.ceil(assumptions.length * MIN_SETTLED_SHARE);
  const { length } = assumptions.filter(({ verdict }) => verdict === 'settled');
  return length < wanted ? wanted : undefined;
}

export function reportsViolation({ replies }: CheckReport): boolean {
  return replies.some(({ differences = [] }) => differences.some(isViolation));
}

/** Proofs that a verdict names. */
const MAX_SHOWN = 2;

class Judge {
  readonly #run: CheckRun;
  readonly #tellings = new Map<Exhibit, readonly Telling[]>();
  readonly #unasked: readonly Exhibit[];
  readonly #fit: Fit;

  constructor(run: CheckRun) {
    this.#run = run;
    const [first = [], last = []] = run.rounds;
    for (const [at, telling] of last.entries()) {
      const tellings = [first[at] ?? telling, telling];
      const { story, world } = telling;
      const seen = story.probes.map((_, probe) =>
        commonFacets(tellings.map(({ facets }) => facets[probe] ?? {})),
      );
      this.#tellings.set({ story, world, seen }, tellings);
    }
    const bursts = first.flatMap(({ facets }) => facets.flatMap(({ passed }) => passed ?? []));
    const rate = bursts.find((passed) => Number(passed) > 0 && Number(passed) < BURST);
    this.#fit = new Fit([...this.#tellings.keys()], rate && `${rate}/s`);
    this.#unasked = listUnasked(run.options);
  }

  judgeAssumption(id: AssumptionId): AssumptionVerdict {
    const { verdict, option, evidence, instead } = this.#fit.judge(id);
    const shown = this.#describe(evidence);
    if (verdict === 'settled') return { id, verdict, option, why: shown };
    if (verdict === 'none-of-the-options') return { id, verdict, why: `found ${shown}` };
    const why = instead === undefined ? `found ${shown}` : this.#explain([...keysOf(instead)]);
    if (why !== '') return { id, verdict, why };
    const others = Object.entries(instead ?? {}).map((pair) => pair.join('='));
    const both =
      shown === ''
        ? 'no reply shows it'
        : `${joinWords(others, 'and')} would answer the same: ${shown}`;
    return { id, verdict, why: both };
  }

  #describe(evidence: readonly Evidence[]): string {
    const texts = evidence.map(({ exhibit, at, facet }) => {
      const value = exhibit.seen[at]?.[facet];
      const [exchange] = this.#exchanges(exhibit, at);
      const text = exchange === undefined ? '' : describeExchange(exchange);
      return facet === 'status' ? text : `${text}, ${facet}: ${value}`;
    });
    return [...new Set(texts)].slice(0, MAX_SHOWN).join('; ');
  }

  readonly #exchanges = (exhibit: Exhibit, at: number): readonly ProbeExchange[] =>
    (this.#tellings.get(exhibit) ?? []).flatMap(({ exchanges }) => exchanges[at] ?? []);

  /** What would settle assumptions, or what kept the check from it. */
  #explain(ids: readonly AssumptionId[]): string {
    const isAbout = (exhibit: Exhibit) => ids.some((id) => this.#fit.wouldShow(id, exhibit));
    const asked = [...this.#tellings].filter(([exhibit]) => isAbout(exhibit));
    const failures = asked.flatMap(([, tellings]) =>
      tellings.flatMap(({ reason }) => reason ?? []),
    );
    const moved = asked.flatMap(([exhibit, tellings]) => this.#listMoved(exhibit, tellings));
    const needs = this.#describeNeeds(this.#unasked.filter(isAbout));
    return [...new Set([...failures, ...moved.slice(0, 1), ...needs])].join('; ');
  }

  /** Facets that were not the same in both rounds, or that nobody can predict. */
  #listMoved({ story, seen }: Exhibit, tellings: readonly Telling[]): string[] {
    return story.probes.flatMap((_, at) => {
      const [first = {}, last = {}] = tellings.map(({ facets }) => facets[at]);
      const exchange = tellings[0]?.exchanges[at];
      if (exchange === undefined) return [];
      return Object.keys(first).flatMap((name) => {
        const isMoved = last[name] !== undefined && last[name] !== first[name];
        if (!isMoved && !(VOLATILE.includes(name) && seen[at]?.[name] !== undefined)) return [];
        const values = isMoved ? `${first[name]}, then ${last[name]}` : first[name];
        return `${OTHER_CLIENT} may have written: ${describeExchange(exchange)}, ${name}: ${values}`;
      });
    });
  }

  #describeNeeds(exhibits: readonly Exhibit[]): string[] {
    const all = exhibits.map(({ story }) => missingNeeds(story, this.#run.options));
    const least = all.filter(
      (needs) =>
        !all.some(
          (other) => other.length < needs.length && other.every((need) => needs.includes(need)),
        ),
    );
    const flags = least.filter((needs) => needs.every((need) => need.startsWith('--')));
    const texts = new Set(
      (flags.length > 0 ? flags : least).map((needs) => joinWords([...needs], 'and')),
    );
    return texts.size === 0 ? [] : [`it needs ${joinWords([...texts], 'or')}`];
  }

  judgeReplies(): ReplyVerdict[] {
    const deviations = [
      ...listUnexplained(this.#fit.listUnexplained(), this.#exchanges),
      ...listBodyDifferences([...this.#tellings.keys()], this.#exchanges),
    ];
    const names = new Set([
      ...DOCUMENTED_REPLIES.map(replyName),
      ...deviations.flatMap(({ about, ...each }) => (isViolation(each) ? about : [])),
    ]);
    return [...names].map((name) => {
      const [operation, status] = readName(name);
      const differences = distinct(
        deviations.flatMap(({ about, ...difference }) => (about === name ? difference : [])),
      );
      const found = { operation, status, ...(differences.length > 0 && { differences }) };
      if (differences.some(isViolation)) return { ...found, verdict: 'different' };
      const sent = this.#run.rounds
        .flat()
        .flatMap(({ exchanges }) => exchanges.flatMap((each) => each ?? []));
      const ofOperation = sent.filter(({ probe }) => probe.operation === operation);
      if (ofOperation.some(({ reply }) => reply.status === status)) {
        return { ...found, verdict: 'as-documented' };
      }
      const why = this.#explainUntried(operation, status);
      return { ...found, verdict: 'not-tried', ...(why !== '' && { why }) };
    });
  }

  #explainUntried(operation: OperationId, status: number): string {
    const choices = chooseOptions();
    const leadsTo = ({ story, world }: Exhibit) => {
      const { lists, words, store, open } = world;
      const scene = new Scene(lists, words, store.animals.highestId);
      const { facets } = tellStory(story, scene, open(choices));
      return story.probes.some((probe, at) => {
        return probe.operation === operation && facets[at]?.status === `${status}`;
      });
    };
    const tellings = [...this.#tellings]
      .filter(([exhibit]) => leadsTo(exhibit))
      .flatMap(([, told]) => told);
    const reasons = tellings.flatMap(({ reason, exchanges }) => {
      const sent = exchanges.flatMap((each) =>
        each?.probe.operation === operation ? describeExchange(each) : [],
      );
      return reason ?? sent;
    });
    const needs = tellings.length > 0 ? [] : this.#describeNeeds(this.#unasked.filter(leadsTo));
    return [...new Set([...reasons, ...needs])].join('; ');
  }
}

function keysOf(choices: object): AssumptionId[] {
  return ASSUMPTION_IDS.filter((id) => id in choices);
}

function replyName({ operation, status }: { operation: OperationId; status: number }): string {
  return `${operation} ${status}`;
}

function readName(name: string): [OperationId, number] {
  const [id, status] = name.split(' ');
  const operation = DOCUMENTED_REPLIES.find((reply) => reply.operation === id)?.operation;
  if (operation === undefined) throw new TypeError(`${name} is the name of no reply.`);
  return [operation, Number(status)];
}
