import {
  ASSUMPTION_IDS,
  type AssumptionId,
  chooseOptions,
} from '../../../core/contract/assumption-table.ts';
import { DOCUMENTED_REPLIES } from '../../../core/contract/possible-replies.ts';
import { DEFAULTS } from '../../../core/limits.ts';
import { joinWords } from '../../../core/words.ts';
import { distinct, isViolation, parseBody, replyDifferences } from '../deployment-reply.ts';
import {
  type CheckReport,
  type Difference,
  OTHER_CLIENT,
  type ReplyVerdict,
} from './check-report.ts';
import { type Evidence, Fit, VOLATILE } from './fit.ts';
import { type Exhibit, predictStory } from './predict.ts';
import { describeExchange, type ProbeExchange } from './probe-sender.ts';
import { BURST, missingNeeds, STORIES } from './probes.ts';
import type { CheckedStory, CheckRun } from './run.ts';
import type { AssumptionVerdict } from './saved-verdicts.ts';
import { createLists, createWorld, type World } from './world.ts';

export function createCheckReport(run: CheckRun): CheckReport {
  const judge = new Judge(run);
  const { patience = DEFAULTS.patience } = run.options;
  const isAfterWrites = run.stories.some(({ story, tellings }) => {
    const isTold = tellings.some(({ reason }) => reason === undefined);
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

/** What the document says of a reply, besides its status and the shape of its body. */
const DOCUMENTED_FACETS = ['count', 'statuses', 'fields', 'quantity', 'petId', 'ids', 'sunset'];

type ReplyName = Pick<ReplyVerdict, 'operation' | 'status'>;
type ReplyDifference = Difference & ReplyName;

class Judge {
  readonly #run: CheckRun;
  /** The stories that were not asked, as they would be of a deployment that has all they need. */
  readonly #unasked: readonly Exhibit[];
  readonly #fit: Fit<CheckedStory>;

  constructor(run: CheckRun) {
    this.#run = run;
    const bursts = run.stories.flatMap(({ tellings: [first] }) =>
      (first?.scene.facets ?? []).flatMap(({ passed }) => passed ?? []),
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
    const shown = this.#describe(evidence);
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

  #describe(evidence: readonly Evidence<CheckedStory>[]): string {
    const texts = evidence.map(({ exhibit, at, facet }) => {
      const [exchange] = exchangesOf(exhibit.tellings, at);
      const text = exchange === undefined ? '' : describeExchange(exchange);
      return facet === 'status' ? text : `${text}, ${facet}: ${exhibit.seen[at]?.[facet]}`;
    });
    return [...new Set(texts)].slice(0, MAX_SHOWN).join('; ');
  }

  /** What would settle assumptions, or what kept the check from it. */
  #explain(ids: readonly AssumptionId[]): string {
    const isAbout = (exhibit: Exhibit) => ids.some((id) => this.#fit.wouldShow(id, exhibit));
    const asked = this.#run.stories.filter(isAbout);
    const reasons = asked.flatMap(({ tellings }) => tellings.flatMap(({ reason }) => reason ?? []));
    const others = this.#run.stories.filter((story) => {
      return ids.some((id) => this.#fit.mayShow(id, story));
    });
    const moved = others.flatMap(listMoved).slice(0, 1);
    return [...new Set([...reasons, ...moved, ...this.#listNeeds(isAbout)])].join('; ');
  }

  /** The least that stories need which were not asked. */
  #listNeeds(isAbout: (exhibit: Exhibit) => boolean): string[] {
    const all = this.#unasked
      .filter(isAbout)
      .map(({ story }) => missingNeeds(story, this.#run.options));
    const least = all.filter(
      (needs) =>
        !all.some(({ length }, at) => {
          return length < needs.length && all[at]?.every((need) => needs.includes(need));
        }),
    );
    const flags = least.filter((needs) => needs.every((need) => need.startsWith('--')));
    const texts = (flags.length > 0 ? flags : least).map((needs) => joinWords(needs, 'and'));
    return texts.length === 0 ? [] : [`it needs ${joinWords([...new Set(texts)], 'or')}`];
  }

  judgeReplies(): ReplyVerdict[] {
    const deviations = [...this.#listUnexplained(), ...this.#run.stories.flatMap(listDeviations)];
    const replies = [...DOCUMENTED_REPLIES, ...deviations.filter(isViolation)].map(
      ({ operation, status }) => [`${operation} ${status}`, { operation, status }] as const,
    );
    return [...new Map(replies).values()].map((reply): ReplyVerdict => {
      const { operation, status } = reply;
      const differences = distinct(deviations.filter((each) => isSame(each, reply))).map(
        ({ operation: _, status: __, ...difference }) => difference,
      );
      const found = { ...reply, ...(differences.length > 0 && { differences }) };
      if (differences.some(isViolation)) return { ...found, verdict: 'different' };
      const isSeen = this.#run.stories.some(({ story, tellings }) =>
        story.probes.some((probe, at) => {
          if (probe.operation !== operation) return false;
          return exchangesOf(tellings, at).some((each) => each.reply.status === status);
        }),
      );
      if (isSeen) return { ...found, verdict: 'as-documented' };
      const why = this.#explainUntried(reply);
      return { ...found, verdict: 'not-tried', ...(why !== '' && { why }) };
    });
  }

  #explainUntried({ operation, status }: ReplyName): string {
    const choices = chooseOptions();
    const leadsTo = (exhibit: Exhibit) => {
      const { facets } = predictStory(exhibit, choices);
      return exhibit.story.probes.some((probe, at) => {
        return probe.operation === operation && facets[at]?.status === `${status}`;
      });
    };
    const asked = this.#run.stories.filter(leadsTo);
    const reasons = asked.flatMap(({ tellings }) =>
      tellings.flatMap(({ reason, exchanges }) => {
        const sent = exchanges.filter((each) => each?.probe.operation === operation);
        return reason ?? sent.flatMap((each) => (each ? describeExchange(each) : []));
      }),
    );
    return [...new Set(asked.length > 0 ? reasons : this.#listNeeds(leadsTo))].join('; ');
  }

  /** What no choices explain, though the document prescribes it. */
  #listUnexplained(): ReplyDifference[] {
    return this.#fit.listUnexplained().flatMap((found): ReplyDifference[] => {
      const { exhibit, at, facet, expected, isDocumented } = found;
      const { [at]: probe } = exhibit.story.probes;
      const { [at]: shown = {} } = exhibit.seen;
      const [first] = exchangesOf(exhibit.tellings, at);
      if (probe?.operation === undefined || first === undefined) return [];
      const value = shown[facet] ?? '';
      const { operation } = probe;
      const difference = { expected, found: value, exchange: describeExchange(first), operation };
      if (facet === 'status') {
        const isAllowed = probe.isWrong && value.startsWith('2');
        // The user may have named an order that cannot be cancelled.
        const isExcused = probe.isOnce && /^(?:404|409)$/.test(value);
        const status = Number(isAllowed ? value : expected);
        if (isExcused || (!isDocumented && !isAllowed)) return [];
        return [{ where: 'status', ...difference, status }];
      }
      // A page can be shorter if it leads to the next one.
      const isPart = facet === 'count' && (shown.next !== 'none' || shown.total !== 'none');
      if (!DOCUMENTED_FACETS.includes(facet) || (isPart && operation === 'listPets')) return [];
      return [{ where: 'value', at: facet, ...difference, status: first.reply.status }];
    });
  }
}

/** How bodies break the document, in both rounds. */
function listDeviations({ story, tellings }: CheckedStory): ReplyDifference[] {
  return story.probes.flatMap(({ operation }, at) => {
    const [first, last] = exchangesOf(tellings, at);
    if (operation === undefined || first === undefined || last === undefined) return [];
    const [once = [], again = []] = [first, last].map(({ reply }) => {
      return replyDifferences({ ...reply, json: parseBody(reply.body) }, operation);
    });
    const kept = once.filter((one) =>
      again.some((other) => one.where === other.where && one.at === other.at),
    );
    const { status } = first.reply;
    const exchange = describeExchange(first);
    return kept.map((difference) => ({ ...difference, exchange, operation, status }));
  });
}

function isSame(one: ReplyName, other: ReplyName): boolean {
  return one.operation === other.operation && one.status === other.status;
}

/** One for each round that has one. */
function exchangesOf(tellings: CheckedStory['tellings'], at: number): readonly ProbeExchange[] {
  return tellings.flatMap(({ exchanges }) => exchanges[at] ?? []);
}

/** Facets that were not the same in both rounds, or that nobody can predict. */
function listMoved({ story, seen, tellings }: CheckedStory): string[] {
  return story.probes.flatMap((_, at) => {
    const [first = {}, last = {}] = tellings.map(({ scene }) => scene.facets[at]);
    const [exchange] = exchangesOf(tellings, at);
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
