import {
  ASSUMPTION_IDS,
  type AssumptionId,
  chooseOptions,
  DOCUMENTED_REPLIES,
} from '../../../core/contract/assumption-table.ts';
import {
  checkBody,
  type Deviation,
  distinct,
  isViolation,
} from '../../../core/contract/check-reply.ts';
import type { OperationId } from '../../../core/contract/operations.ts';
import { describe, joinWords } from '../../../core/words.ts';
import { parseBody, UNKNOWN_WORD } from '../deployment-reply.ts';
import { OTHER_CLIENT } from './facets.ts';
import { type Evidence, Fit, type FitVerdict } from './fit.ts';
import type { Exhibit } from './predict.ts';
import { describeExchange } from './probe-sender.ts';
import { OVERDUE, planStories, type Story } from './probes.ts';
import type { CheckRun } from './run.ts';
import type { AssumptionVerdict } from './saved-verdicts.ts';
import { createWorld, type World } from './world.ts';

export interface CheckReport {
  readonly assumptions: readonly AssumptionVerdict[];
  readonly replies: readonly ReplyVerdict[];
}

interface ReplyName {
  readonly operation: OperationId;
  readonly status: number;
}

interface ReplyVerdict extends ReplyName {
  readonly verdict: 'as-documented' | 'different' | 'not-tried';
  readonly differences?: readonly Difference[];
  /** Why no reply could be judged, if a request was sent. */
  readonly why?: string;
}

interface Difference extends Deviation {
  /** In words to repeat with curl. */
  readonly exchange: string;
}

type Found = ReplyName & Difference;

/** Proofs that a verdict names. */
const MAX_SHOWN = 2;

export function createCheckReport({ stories, options }: CheckRun): CheckReport {
  const fit = new Fit(stories);
  const world = createIdealWorld();
  /** What a story would show of a deployment that has all it needs. */
  const idealOf = (story: Story): Exhibit => {
    return { story: { ...story, order: undefined }, world, scenes: [], seen: [] };
  };
  const unasked = planStories(options)
    .filter(({ needs }) => needs.length > 0 && !(needs.includes(OVERDUE) && isOverdueTold(stories)))
    .map(idealOf);
  const asked = stories.map((exhibit) => {
    return { exhibit, ideal: exhibit.story.orderWord && idealOf(exhibit.story) };
  });
  /** Stories that were asked, also those that another order would have told. */
  const listAsked = (isAbout: (exhibit: Exhibit) => boolean) =>
    asked.flatMap(({ exhibit, ideal = exhibit }) => {
      return isAbout(exhibit) || isAbout(ideal) ? exhibit : [];
    });
  const judgeAssumption = ([id, found]: readonly [AssumptionId, FitVerdict]): AssumptionVerdict => {
    const { verdict, option, evidence, instead } = found;
    const shown = [...new Set(evidence.map(describeEvidence))].slice(0, MAX_SHOWN).join('; ');
    if (verdict === 'settled') return { id, verdict, option, why: shown };
    if (instead === undefined) return { id, verdict, why: `found ${shown}` };
    const ids = ASSUMPTION_IDS.filter((each) => each === id || each in instead);
    const isAbout = (exhibit: Exhibit) => ids.some((each) => fit.wouldShow(each, exhibit));
    const reasons = listAsked(isAbout).flatMap(({ scenes }) => scenes.map((it) => it.reason));
    const [moved] = stories
      .filter((story) => ids.some((each) => fit.mayShow(each, story)))
      .flatMap(listMoved);
    const others = ids.map((each) => `${each}=${instead[each]}`);
    const both = `${joinWords(others, 'and')} would answer the same: ${shown}`;
    const why = joinTexts([...reasons, moved, listNeeds(unasked.filter(isAbout))]);
    return { id, verdict, why: why || (shown === '' ? 'no reply shows it' : both) };
  };
  const explainUntried = (reply: ReplyName) => {
    const leadsTo = (exhibit: Exhibit) => {
      const { facets } = fit.predict(exhibit, chooseOptions());
      return exhibit.story.probes.some(({ operation }, at) => {
        return operation === reply.operation && facets[at]?.status === `${reply.status}`;
      });
    };
    const scenes = listAsked(leadsTo).flatMap((story) => story.scenes);
    if (scenes.length === 0) return listNeeds(unasked.filter(leadsTo));
    return joinTexts(
      scenes.flatMap(({ reason, exchanges }) => {
        const about = exchanges.flatMap((it) => it ?? []);
        const own = about.filter(({ probe }) => probe.operation === reply.operation);
        return reason ?? own.map(describeExchange);
      }),
    );
  };
  const found = [...fit.broken.flatMap(describeBroken), ...stories.flatMap(compareBodies)];
  const seen = new Set(
    stories.flatMap(({ scenes }) =>
      scenes.flatMap(({ exchanges }) =>
        exchanges.flatMap((it) => (it ? `${it.probe.operation} ${it.reply.status}` : [])),
      ),
    ),
  );
  const nameOf = ({ operation, status }: ReplyName) => `${operation} ${status}`;
  const judgeReply = (reply: ReplyName): ReplyVerdict => {
    const own = found.filter((each) => nameOf(each) === nameOf(reply));
    const differences = distinct(own).map(({ operation: _, status: __, ...each }) => each);
    const known = { ...reply, ...(differences.length > 0 && { differences }) };
    if (differences.some(isViolation)) return { ...known, verdict: 'different' };
    if (seen.has(nameOf(reply))) return { ...known, verdict: 'as-documented' };
    const why = explainUntried(reply);
    return { ...known, verdict: 'not-tried', ...(why !== '' && { why }) };
  };
  const replies = new Map(
    [...DOCUMENTED_REPLIES, ...found.filter(isViolation)].map(({ operation, status }) => {
      return [nameOf({ operation, status }), { operation, status }];
    }),
  );
  return {
    assumptions: [...fit.judgeAll()].map(judgeAssumption),
    replies: [...replies.values()].map(judgeReply),
  };
}

/** Whether a check was told an order past its date: to name one again would not help. */
function isOverdueTold(stories: readonly Exhibit[]): boolean {
  return stories.some(({ story: { orderWord, order = 0n }, world: { store, clock } }) => {
    const { status, shipDate = '' } = store.orders.get(order) ?? {};
    return orderWord === 'CANCEL' && status === 'pending' && Date.parse(shipDate) < clock;
  });
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

function joinTexts(texts: readonly (string | undefined)[]): string {
  return [...new Set(texts.filter(Boolean))].join('; ');
}

/** The least that stories need which were not asked, flags if these are enough. */
function listNeeds(exhibits: readonly Exhibit[]): string {
  const each = exhibits.map(({ story }) => story.needs);
  const flags = each.filter((needs) => needs.every((need) => need.startsWith('--')));
  const wanted = flags.length > 0 ? flags : each;
  const least = Math.min(...wanted.map(({ length }) => length));
  const texts = wanted.flatMap((needs) => (needs.length === least ? joinWords(needs, 'and') : []));
  // Whoever needs any order needs none that is past its date.
  const all = [...new Set(texts)].filter((text) => !texts.some((it) => text.startsWith(`${it} `)));
  return all.length === 0 ? '' : `it needs ${joinWords(all, 'or')}`;
}

/** Of the first round that has one. */
function exchangeOf({ scenes }: Exhibit, at: number) {
  return scenes.flatMap(({ exchanges }) => exchanges[at] ?? [])[0];
}

function describeEvidence({ exhibit, at, facet, found }: Evidence): string {
  const exchange = exchangeOf(exhibit, at);
  const text = exchange === undefined ? '' : describeExchange(exchange);
  return facet === 'status' ? text : `${text}, ${facet}: ${found}`;
}

function describeBroken({ exhibit, at, facet, found, expected }: Evidence): Found[] {
  const first = exchangeOf(exhibit, at);
  const operation = first?.probe.operation;
  if (first === undefined || operation === undefined) return [];
  const exchange = describeExchange(first);
  if (facet !== 'status') {
    // Each round has an animal of its own.
    const name = facet.replace('NEW', `${exhibit.scenes[0]?.idOf('NEW')}`);
    const { status } = first.reply;
    return [{ where: 'value', at: name, expected, found, operation, status, exchange }];
  }
  const isDocumented = DOCUMENTED_REPLIES.some((reply) => {
    return reply.operation === operation && `${reply.status}` === expected;
  });
  const status = Number(isDocumented ? expected : found);
  return [{ where: 'status', expected, found, operation, status, exchange }];
}

/** What the bodies of both rounds have that the document does not allow. */
function compareBodies({ story, scenes }: Exhibit): Found[] {
  return story.probes.flatMap(({ operation }, at) => {
    const exchanges = scenes.flatMap((scene) => scene.exchanges[at] ?? []);
    const [first, last] = exchanges;
    if (operation === undefined || first === undefined || last === undefined) return [];
    const [once = [], again = []] = exchanges.map(({ reply }) => {
      return checkBody({ ...reply, json: parseBody(reply.body) }, operation);
    });
    const { status } = first.reply;
    const exchange = describeExchange(first);
    return once.flatMap((difference) => {
      const { where, at: place, found } = difference;
      const isOwn = where === 'new value' && found === describe(UNKNOWN_WORD);
      const isSame = again.some((other) => other.where === where && other.at === place);
      return isSame && !isOwn ? { ...difference, operation, status, exchange } : [];
    });
  });
}

/** What other clients have written: facets that were not the same in both rounds. */
function listMoved(checked: Exhibit): string[] {
  const told = checked.scenes.flatMap(({ reason }) => reason ?? []);
  const others = told.filter((reason) => reason.startsWith(OTHER_CLIENT));
  const moved = checked.story.probes.flatMap((_, at) => {
    const [first = {}, last = {}] = checked.scenes.map(({ facets }) => facets[at]);
    return Object.entries(first).flatMap(([facet, before]) => {
      const after = last[facet];
      if (after === undefined || after === before) return [];
      const found = `${before}, then ${after}`;
      const evidence = { exhibit: checked, at, facet, found, expected: before };
      return `${OTHER_CLIENT} may have written: ${describeEvidence(evidence)}`;
    });
  });
  return [...others, ...moved];
}

/** Records of which each assumption shows something. */
function createIdealWorld(): World {
  const lists = [
    Array.from({ length: 21 }, (_, at) => {
      return { id: at + 1, name: 'Rex', categoryId: 1, status: at % 2 === 0 ? 'sold' : null };
    }),
    [{ petId: 1, quantity: 0, status: 'sold' }],
    ['pending', 'shipped', 'cancelled', 'pending'].map((status, at) => {
      const shipDate = `202${at === 3 ? 4 : 7}-01-01T00:00:00Z`;
      return { id: at + 1, petId: 1, quantity: 2, status, shipDate };
    }),
  ];
  const world = createWorld(lists, { stock: 1n }, Date.UTC(2026, 0, 1));
  const orders = ['CANCEL', 'SHIPPED', 'CANCELLED', 'OVERDUE'].map((word, at) => {
    return [word, `${at + 1}`] as const;
  });
  return { ...world, words: new Map([...world.words, ...orders, ['PET', '1']]) };
}
