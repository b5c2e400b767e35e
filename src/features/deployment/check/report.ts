import {
  ASSUMPTION_IDS,
  type AssumptionId,
  chooseOptions,
} from '../../../core/contract/assumption-table.ts';
import { distinct, isViolation } from '../../../core/contract/check-reply.ts';
import { DOCUMENTED_REPLIES } from '../../../core/contract/possible-replies.ts';
import { DEFAULTS } from '../../../core/limits.ts';
import { joinWords } from '../../../core/words.ts';
import { type CheckReport, OTHER_CLIENT, type ReplyVerdict } from './check-report.ts';
import { type Evidence, Fit, VOLATILE } from './fit.ts';
import { type Exhibit, predictStory } from './predict.ts';
import { describeExchange } from './probe-sender.ts';
import { BURST, missingNeeds, STORIES } from './probes.ts';
import { listBroken, type ReplyDifference } from './promises.ts';
import type { CheckedStory, CheckRun } from './run.ts';
import type { AssumptionVerdict } from './saved-verdicts.ts';
import { createLists, createWorld, type World } from './world.ts';

export function createCheckReport(run: CheckRun): CheckReport {
  const judge = new Judge(run);
  const { patience = DEFAULTS.patience } = run.options;
  const isAfterWrites = run.stories.some(({ story, scenes }) => {
    const isTold = scenes.some(({ reason }) => reason === undefined);
    return isTold && story.probes.some(({ isLate }) => isLate);
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

type ReplyName = Pick<ReplyVerdict, 'operation' | 'status'>;

class Judge {
  readonly #run: CheckRun;
  /** The stories that were not asked, as they would be of a deployment that has all they need. */
  readonly #unasked: readonly Exhibit[];
  readonly #fit: Fit<CheckedStory>;

  constructor(run: CheckRun) {
    this.#run = run;
    const bursts = run.stories.flatMap(({ scenes: [first] }) =>
      (first?.facets ?? []).flatMap(({ passed }) => passed ?? []),
    );
    const rate = bursts.find((passed) => Number(passed) > 0 && Number(passed) < BURST);
    this.#fit = new Fit(run.stories, rate && `${rate}/s`);
    const world = createIdealWorld();
    this.#unasked = STORIES.flatMap((story) => {
      return missingNeeds(story, run.options).length === 0 ? [] : { story, world, seen: [] };
    });
  }

  judgeAssumption(id: AssumptionId): AssumptionVerdict {
    const { verdict, option, evidence, instead } = this.#fit.judge(id);
    const shown = describeEvidence(evidence);
    if (verdict === 'settled') return { id, verdict, option, why: shown };
    if (instead === undefined) return { id, verdict, why: `found ${shown}` };
    const others = Object.entries(instead).map((pair) => pair.join('='));
    const both =
      shown === ''
        ? 'no reply shows it'
        : `${joinWords(others, 'and')} would answer the same: ${shown}`;
    const why = this.#explain(ASSUMPTION_IDS.filter((each) => each in instead));
    return { id, verdict, why: why || both };
  }

  /** What would settle assumptions, or what kept the check from it. */
  #explain(ids: readonly AssumptionId[]): string {
    const isAbout = (exhibit: Exhibit) => ids.some((id) => this.#fit.wouldShow(id, exhibit));
    const reasons = this.#run.stories
      .filter(isAbout)
      .flatMap(({ scenes }) => scenes.flatMap(({ reason }) => reason ?? []));
    const moved = this.#run.stories
      .filter((story) => ids.some((id) => this.#fit.mayShow(id, story)))
      .flatMap(listMoved);
    return distinctText([...reasons, ...moved.slice(0, 1), ...this.#listNeeds(isAbout)]);
  }

  /** The least that stories need which were not asked. */
  #listNeeds(isAbout: (exhibit: Exhibit) => boolean): string[] {
    const all = this.#unasked
      .filter(isAbout)
      .map(({ story }) => missingNeeds(story, this.#run.options));
    const isLess = (some: readonly string[], needs: readonly string[]) =>
      some.length < needs.length && some.every((need) => needs.includes(need));
    const least = all.filter((needs) => !all.some((some) => isLess(some, needs)));
    const flags = least.filter((needs) => needs.every((need) => need.startsWith('--')));
    const texts = (flags.length > 0 ? flags : least).map((needs) => joinWords(needs, 'and'));
    return texts.length === 0 ? [] : [`it needs ${joinWords([...new Set(texts)], 'or')}`];
  }

  judgeReplies(): ReplyVerdict[] {
    const { stories } = this.#run;
    const deviations = [
      ...stories.flatMap((story) => this.#findWrongStatus(story) ?? []),
      ...listBroken(stories),
    ];
    const replies = [...DOCUMENTED_REPLIES, ...deviations.filter(isViolation)].map(
      ({ operation, status }) => [`${operation} ${status}`, { operation, status }] as const,
    );
    return [...new Map(replies).values()].map((reply): ReplyVerdict => {
      const differences = distinct(deviations.filter((each) => isSame(each, reply))).map(
        ({ operation: _, status: __, ...difference }) => difference,
      );
      const found = { ...reply, ...(differences.length > 0 && { differences }) };
      if (differences.some(isViolation)) return { ...found, verdict: 'different' };
      const isSeen = this.#listExchanges().some(({ probe, reply: { status } }) =>
        isSame({ operation: probe.operation, status }, reply),
      );
      if (isSeen) return { ...found, verdict: 'as-documented' };
      const why = this.#explainUntried(reply);
      return { ...found, verdict: 'not-tried', ...(why !== '' && { why }) };
    });
  }

  #explainUntried(reply: ReplyName): string {
    const choices = chooseOptions();
    const leadsTo = (exhibit: Exhibit) => {
      const { facets } = predictStory(exhibit, choices);
      return exhibit.story.probes.some(({ operation }, at) => {
        return isSame({ operation, status: Number(facets[at]?.status) }, reply);
      });
    };
    const asked = this.#run.stories.filter(leadsTo);
    if (asked.length === 0) return distinctText(this.#listNeeds(leadsTo));
    return distinctText(
      asked.flatMap(({ scenes }) =>
        scenes.flatMap(({ reason, exchanges }) => {
          const sent = exchanges.flatMap((it) => it ?? []);
          const about = sent.filter(({ probe }) => probe.operation === reply.operation);
          return reason ?? about.map(describeExchange);
        }),
      ),
    );
  }

  #listExchanges() {
    const scenes = this.#run.stories.flatMap((story) => story.scenes);
    return scenes.flatMap(({ exchanges }) => exchanges.flatMap((exchange) => exchange ?? []));
  }

  /** A status that no choices explain, though the document prescribes another or the request is wrong. */
  #findWrongStatus(story: CheckedStory): ReplyDifference | undefined {
    const wrong = this.#fit.findWrongStatus(story);
    const exchange = wrong && exchangeOf(story, wrong.at);
    const { operation, isOnce, isWrong } = exchange?.probe ?? {};
    if (wrong === undefined || exchange === undefined || operation === undefined) return undefined;
    const { found, expected, isDocumented } = wrong;
    const isAllowed = isWrong === true && found.startsWith('2');
    // The user may have named an order that cannot be cancelled.
    const isExcused = isOnce === true && /^(?:404|409)$/.test(found);
    if (isExcused || (!isDocumented && !isAllowed)) return undefined;
    const status = Number(isAllowed ? found : expected);
    const difference = { where: 'status', expected, found } as const;
    return { ...difference, operation, status, exchange: describeExchange(exchange) };
  }
}

function isSame(
  one: { readonly operation: string | undefined; readonly status: number },
  other: ReplyName,
): boolean {
  return one.operation === other.operation && one.status === other.status;
}

function distinctText(texts: readonly string[]): string {
  return [...new Set(texts)].join('; ');
}

/** Of the first round that has one. */
function exchangeOf({ scenes }: CheckedStory, at: number) {
  return scenes.flatMap(({ exchanges }) => exchanges[at] ?? [])[0];
}

function describeEvidence(evidence: readonly Evidence<CheckedStory>[]): string {
  const texts = evidence.map(({ exhibit, at, facet }) => {
    const exchange = exchangeOf(exhibit, at);
    const text = exchange === undefined ? '' : describeExchange(exchange);
    return facet === 'status' ? text : `${text}, ${facet}: ${exhibit.seen[at]?.[facet]}`;
  });
  return [...new Set(texts)].slice(0, MAX_SHOWN).join('; ');
}

/** Facets that were not the same in both rounds, or that nobody can predict. */
function listMoved(checked: CheckedStory): string[] {
  const { story, seen, scenes } = checked;
  return story.probes.flatMap((_, at) => {
    const [first = {}, last = {}] = scenes.map(({ facets }) => facets[at]);
    const exchange = exchangeOf(checked, at);
    return Object.entries(first).flatMap(([name, before]) => {
      const after = last[name];
      const isMoved = after !== undefined && after !== before;
      const isVolatile = VOLATILE.includes(name) && seen[at]?.[name] !== undefined;
      if (exchange === undefined || !(isMoved || isVolatile)) return [];
      const values = isMoved ? `${before}, then ${after}` : before;
      return `${OTHER_CLIENT} may have written: ${describeExchange(exchange)}, ${name}: ${values}`;
    });
  });
}

/** Records of which each assumption shows something. */
function createIdealWorld(): World {
  const lists = createLists([
    Array.from({ length: 21 }, (_, at) => {
      return { id: at + 1, name: 'Rex', categoryId: 1, status: at % 2 === 0 ? 'sold' : null };
    }),
    [{ petId: 1, quantity: 0, status: 'sold' }],
    ['pending', 'shipped', 'cancelled', 'pending'].map((status, at) => {
      const shipDate = `202${at === 3 ? 4 : 7}-01-01T00:00:00Z`;
      return { id: at + 1, petId: 1, quantity: 2, status, shipDate };
    }),
  ]);
  const world = createWorld(lists, { stock: 1n }, Date.UTC(2026, 0, 1));
  const orders = ['CANCEL', 'SHIPPED', 'CANCELLED', 'OVERDUE'].map((word, at) => {
    return [word, `${at + 1}`] as const;
  });
  return { ...world, words: new Map([...world.words, ...orders, ['PET', '1']]) };
}
