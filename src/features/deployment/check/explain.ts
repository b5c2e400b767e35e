import { type AssumptionId, chooseOptions } from '../../../core/contract/assumption-table.ts';
import { joinWords } from '../../../core/words.ts';
import type { DeploymentFlags } from '../flags.ts';
import { createModel, type DeploymentModel } from './deployment-model.ts';
import { OTHER_CLIENT } from './facets.ts';
import type { Evidence, Fit } from './fit.ts';
import type { Observation } from './predict.ts';
import { describeExchange } from './probe-sender.ts';
import { OVERDUE, planSequences, type Sequence } from './probes.ts';
import type { ProbeExchange, SequenceRun } from './sequence-run.ts';
import { exchangeOf, type ReplyName } from './violations.ts';

/** A sequence, and how it would run on a deployment that has everything it needs. */
interface IdealRun {
  readonly ideal: Observation;
  readonly needs: Sequence['needs'];
  /** Its runs on the deployment; empty if something that it needs is missing. */
  readonly runs: readonly SequenceRun[];
}

/** Explains open verdicts by the sequences that would settle them on an ideal deployment. */
export class Explainer {
  readonly #fit: Fit;
  readonly #topics: readonly IdealRun[];

  constructor(fit: Fit, flags: DeploymentFlags) {
    this.#fit = fit;
    const model = createIdealModel();
    const unasked = planSequences(flags).filter(({ needs }) => {
      return needs.length > 0 && !(needs.includes(OVERDUE) && hasOverdue(fit));
    });
    const all = [...fit.observations, ...unasked.map((sequence) => ({ sequence, runs: [] }))];
    this.#topics = all.map(({ sequence, runs }) => {
      const ideal = { sequence: { ...sequence, order: undefined }, model, runs: [], seen: [] };
      return { ideal, needs: sequence.needs, runs };
    });
  }

  /** Why assumptions are open: obstacles, writes of other clients, missing flags or records. */
  whyOpen(ids: readonly AssumptionId[]): string {
    const fit = this.#fit;
    const topics = this.#topics.filter(({ ideal }) => ids.some((id) => fit.wouldShow(id, ideal)));
    const reasons = topics.flatMap(({ runs }) => runs.map(({ reason }) => reason));
    const touched = fit.observations.filter((it) => ids.some((id) => fit.mayShow(id, it)));
    const [written] = touched.flatMap(listWritten);
    return joinTexts([...reasons, written, listNeeds(topics)]);
  }

  /** Why no reply with this name was seen; empty if no sequence leads to it. */
  whyNotTried({ operation, status }: ReplyName): string {
    const topics = this.#topics.filter(({ ideal }) => {
      const { facets } = this.#fit.predict(ideal, chooseOptions());
      return ideal.sequence.probes.some((probe, at) => {
        return probe.operation === operation && facets[at]?.status === `${status}`;
      });
    });
    const runs = topics.flatMap((topic) => topic.runs);
    if (runs.length === 0) return listNeeds(topics);
    return joinTexts(
      runs.flatMap(({ reason, exchanges }) => {
        const own = exchanges.flatMap((it) => (it?.probe.operation === operation ? it : []));
        return reason ?? own.map(describeExchange);
      }),
    );
  }
}

/** Names each exchange once, with all that was found in it. */
export function describeEvidence(evidence: readonly Evidence[], max = 1): string {
  const byExchange = new Map<ProbeExchange, Set<string>>();
  for (const { observation, at, facet, found } of evidence) {
    const exchange = exchangeOf(observation, at);
    if (exchange === undefined) continue;
    const texts = byExchange.get(exchange) ?? new Set([describeExchange(exchange)]);
    byExchange.set(exchange, facet === 'status' ? texts : texts.add(`${facet}: ${found}`));
  }
  const described = Array.from(byExchange.values(), (texts) => [...texts].join(', '));
  return [...new Set(described)].slice(0, max).join('; ');
}

/** Whether --cancel named an order past its date, so that naming another would not help. */
function hasOverdue({ observations }: Fit): boolean {
  return observations.some(({ sequence: { orderName, order = 0n }, model: { store, clock } }) => {
    const { status, shipDate = '' } = store.orders.get(order) ?? {};
    return orderName === 'CANCEL' && status === 'pending' && Date.parse(shipDate) < clock;
  });
}

function joinTexts(texts: readonly (string | undefined)[]): string {
  return [...new Set(texts.filter(Boolean))].join('; ');
}

/** The smallest sets of needs that would run another sequence; if flags suffice, only flags. */
function listNeeds(topics: readonly IdealRun[]): string {
  const each = topics.flatMap(({ needs }) => (needs.length > 0 ? [needs] : []));
  const flags = each.filter((needs) => needs.every((need) => need.startsWith('--')));
  const wanted = flags.length > 0 ? flags : each;
  const least = Math.min(...wanted.map(({ length }) => length));
  const texts = wanted.flatMap((needs) => (needs.length === least ? joinWords(needs, 'and') : []));
  // "An order" includes "an order past its date", so leave out the longer text.
  const all = [...new Set(texts)].filter((text) => !texts.some((it) => text.startsWith(`${it} `)));
  return all.length === 0 ? '' : `it needs ${joinWords(all, 'or')}`;
}

/** Facets that differ between the rounds, because other clients wrote something. */
function listWritten(observation: Observation): string[] {
  const { sequence, runs } = observation;
  const told = runs.flatMap(({ reason }) => (reason?.startsWith(OTHER_CLIENT) ? reason : []));
  const written = sequence.probes.flatMap((_, at) => {
    const [first = {}, last = {}] = runs.map(({ facets }) => facets[at]);
    return Object.entries(first).flatMap(([facet, expected]) => {
      const after = last[facet];
      if (after === undefined || after === expected) return [];
      const found = `${expected}, then ${after}`;
      const evidence = { observation, at, facet, found, expected };
      return `${OTHER_CLIENT} may have written: ${describeEvidence([evidence])}`;
    });
  });
  return [...told, ...written];
}

/** A model with such records that each assumption shows in some sequence. */
function createIdealModel(): DeploymentModel {
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
  const model = createModel(lists, { stock: 1n }, Date.UTC(2026, 0, 1));
  const orders = ['CANCEL', 'SHIPPED', 'CANCELLED', 'OVERDUE'].map((name, at) => {
    return [name, `${at + 1}`] as const;
  });
  return { ...model, placeholders: new Map([...model.placeholders, ...orders, ['PET', '1']]) };
}
