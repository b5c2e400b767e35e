import {
  ASSUMPTION_IDS,
  type AssumptionId,
  type Choices,
  chooseOptions,
  isOption,
  optionNames,
} from '../../../core/contract/assumption-table.ts';
import { type Exhibit, type Prediction, Predictor } from './predict.ts';
import type { Facets } from './scene.ts';

/** A facet of a probe's reply. */
export interface Evidence<E extends Exhibit> {
  readonly exhibit: E;
  readonly at: number;
  readonly facet: string;
}

export interface FitVerdict<E extends Exhibit> {
  readonly id: AssumptionId;
  readonly verdict: 'settled' | 'none-of-the-options' | 'open';
  /** The best one; certain only if it is settled. */
  readonly option: string;
  /** What proves it, or contradicts every option. */
  readonly evidence: readonly Evidence<E>[];
  /** Other choices that would explain the same. */
  readonly instead?: Partial<Choices> | undefined;
}

/** A facet that the mock shows under no choices. */
export interface Unexplained<E extends Exhibit> extends Evidence<E> {
  readonly expected: string;
  readonly isDocumented: boolean;
}

/** Finds the choices that explain what was seen, and what else would. */
export class Fit<E extends Exhibit> {
  readonly choices: Choices;
  readonly #predictor: Predictor<E>;
  readonly #options: (id: AssumptionId) => readonly string[];

  /** @param rate what a burst has shown, if it is no usual option */
  constructor(exhibits: readonly E[], rate?: string) {
    this.#predictor = new Predictor(exhibits);
    this.#options = (id) =>
      id === 'rate-limit' && rate !== undefined ? [...optionNames(id), rate] : optionNames(id);
    this.choices = this.#findBest();
  }

  #others(id: AssumptionId, choices: Choices): Choices[] {
    return this.#options(id).flatMap((option) =>
      option === choices[id] ? [] : withOption(choices, id, option),
    );
  }

  /** Changes one assumption at a time, then two at once, until nothing explains more. */
  #findBest(): Choices {
    let best = chooseOptions();
    for (let before: Choices | undefined; before !== best; ) {
      before = best;
      for (const id of ASSUMPTION_IDS) best = this.#pickBest(best, this.#others(id, best));
      if (best === before) best = this.#pickBest(best, this.#listPairs(best));
    }
    return best;
  }

  #pickBest(best: Choices, others: readonly Choices[]): Choices {
    let [found, most] = [best, this.#predictor.score(best)];
    for (const choices of others) {
      const score = this.#predictor.score(choices);
      if (score > most) [found, most] = [choices, score];
    }
    return found;
  }

  /** The first change has to matter where something is not yet explained, the second where it matters. */
  #listPairs(best: Choices): readonly Choices[] {
    const { exhibits } = this.#predictor;
    const doubtful = exhibits.flatMap((exhibit) => {
      const { score, reads } = this.#predictor.predict(exhibit, best);
      const wanted = exhibit.seen.reduce((sum, shown) => sum + Object.keys(shown).length, 0);
      return score < wanted ? reads.map(([id]) => id) : [];
    });
    return [...new Set(doubtful)].flatMap((id) =>
      this.#others(id, best).flatMap((choices) => {
        const readings = exhibits.map((exhibit) => this.#listRead(exhibit, choices));
        const together = readings.flatMap((read) => (read.includes(id) ? read : []));
        return [...new Set(together)].flatMap((other) =>
          other === id ? [] : this.#others(other, choices),
        );
      }),
    );
  }

  judge(id: AssumptionId): FitVerdict<E> {
    const option = this.choices[id];
    const evidence: Evidence<E>[] = [];
    const conflicts: Evidence<E>[] = [];
    let instead: Partial<Choices> | undefined;
    let isSupported = false;
    for (const other of this.#others(id, this.choices)) {
      const found = this.#compare(other);
      conflicts.push(...found.conflicts);
      evidence.push(...found.supports);
      isSupported ||= found.supports.length > 0 || found.isOtherSeen;
      instead ??=
        found.supports.length === 0
          ? { [id]: other[id] }
          : this.#findAlternative(id, other, found.supports);
    }
    if (conflicts.length > 0) {
      const isNone = !isSupported && conflicts.every((each) => this.#isOtherwise(each));
      const verdict = isNone ? 'none-of-the-options' : 'open';
      return { id, verdict, option, evidence: conflicts };
    }
    if (instead !== undefined) return { id, verdict: 'open', option, evidence, instead };
    return { id, verdict: 'settled', option, evidence };
  }

  /** What speaks for the best choices, and what against them, where others predict something else. */
  #compare(other: Choices) {
    const supports: Evidence<E>[] = [];
    const conflicts: Evidence<E>[] = [];
    let isOtherSeen = false;
    for (const exhibit of this.#predictor.exhibits) {
      const [best, next] = [this.choices, other].map((each) =>
        this.#predictor.predict(exhibit, each),
      );
      if (best === undefined || next === undefined || best === next) continue;
      const changed = listChanged(best, next);
      for (const [at, shown] of exhibit.seen.entries()) {
        const isWhole = isAsPredicted(exhibit, best, at);
        for (const [facet, value] of Object.entries(shown)) {
          const [mine, theirs] = [best.facets[at]?.[facet], next.facets[at]?.[facet]];
          if (mine === undefined || !changed.has(facet)) continue;
          if (value === mine) {
            if (isWhole && theirs !== undefined && theirs !== mine) {
              supports.push({ exhibit, at, facet });
            }
            continue;
          }
          // What neither explains in a story speaks against both.
          if (saysNothing(shown, best.facets[at], next.facets[at])) continue;
          if (VOLATILE.includes(facet) && value !== theirs) continue;
          if (value === theirs) isOtherSeen = true;
          conflicts.push({ exhibit, at, facet });
        }
        if (!isWhole) break;
      }
    }
    return { supports, conflicts, isOtherSeen };
  }

  /** A second change that takes back all that speaks against the first. */
  #findAlternative(
    id: AssumptionId,
    other: Choices,
    supports: readonly Evidence<E>[],
  ): Partial<Choices> | undefined {
    const readings = [...new Set(supports.map(({ exhibit }) => exhibit))].map((exhibit) =>
      this.#listRead(exhibit, other),
    );
    const together = readings[0]?.filter(
      (each) => each !== id && readings.every((read) => read.includes(each)),
    );
    for (const second of together ?? []) {
      for (const both of this.#others(second, other)) {
        if (this.#compare(both).supports.length > 0) continue;
        return { [id]: both[id], [second]: both[second] };
      }
    }
    return undefined;
  }

  /** Whether it is what no option shows, though the document does not exclude it. */
  #isOtherwise(found: Evidence<E>): boolean {
    const value = found.exhibit.seen[found.at]?.[found.facet] ?? '';
    return !(found.facet === 'status' && value.startsWith('2')) && !this.#isExplained(found);
  }

  /** Whether the mock shows it under the best choices, or with a single change of them. */
  #isExplained({ exhibit, at, facet }: Evidence<E>): boolean {
    return this.#neighbours().some((choices) => {
      const { facets } = this.#predictor.predict(exhibit, choices);
      return facets[at]?.[facet] === exhibit.seen[at]?.[facet];
    });
  }

  #neighbours(): readonly Choices[] {
    return [this.choices, ...ASSUMPTION_IDS.flatMap((id) => this.#others(id, this.choices))];
  }

  /** Whether a story depends on an assumption, also if another one had another option. */
  mayShow(id: AssumptionId, exhibit: Exhibit): boolean {
    return this.#neighbours().some((choices) => this.#listRead(exhibit, choices).includes(id));
  }

  /** What no choices explain, after replies that they do. */
  listUnexplained(): Unexplained<E>[] {
    return this.#predictor.exhibits.flatMap((exhibit) => {
      const best = this.#predictor.predict(exhibit, this.choices);
      const end = exhibit.seen.findIndex((_, at) => !isAsPredicted(exhibit, best, at));
      const followed = exhibit.seen.slice(0, end === -1 ? undefined : end + 1);
      return followed.flatMap((shown, at) =>
        Object.keys(shown).flatMap((facet) => {
          const expected = best.facets[at]?.[facet];
          if (expected === undefined || this.#isExplained({ exhibit, at, facet })) return [];
          return { exhibit, at, facet, expected, isDocumented: best.isDocumented[at] === true };
        }),
      );
    });
  }

  /** Whether other options of an assumption would show something else in a story. */
  wouldShow(id: AssumptionId, exhibit: Exhibit): boolean {
    const best = this.#predictor.predict(exhibit, this.choices);
    return this.#others(id, this.choices).some((other) => {
      return listChanged(best, this.#predictor.predict(exhibit, other)).size > 0;
    });
  }

  #listRead(exhibit: Exhibit, choices: Choices): readonly AssumptionId[] {
    return this.#predictor.predict(exhibit, choices).reads.map(([id]) => id);
  }
}

function withOption(choices: Choices, id: AssumptionId, option: string): Choices {
  if (!isOption(id, option)) throw new TypeError(`${id} has no option ${option}`);
  return { ...choices, [id]: option };
}

/** Facets that other clients can change, too: only what the mock predicts says something. */
export const VOLATILE: readonly string[] = ['entry of PET'];

/** The facets that a reply has as a whole. */
const WHOLE = ['status', 'body'];

/** Whether a reply is one that the choices lead to; a story is followed only so far. */
function isAsPredicted({ seen }: Exhibit, { facets }: Prediction, at: number): boolean {
  const [shown = {}, predicted = {}] = [seen[at], facets[at]];
  return WHOLE.every((name) => shown[name] === predicted[name]);
}

/** The names of facets on which two predictions of a story differ. */
function listChanged(best: Prediction, next: Prediction): ReadonlySet<string> {
  return new Set(
    best.facets.flatMap((facets, at) => {
      const theirs = next.facets[at] ?? {};
      return Object.keys(facets).filter((name) => (theirs[name] ?? facets[name]) !== facets[name]);
    }),
  );
}

/** An accepted request does not show how it would be refused, nor the other way round. */
function saysNothing(shown: Facets, mine: Facets = {}, theirs: Facets = {}): boolean {
  const [is, best, other] = [shown, mine, theirs].map(({ status = '' }) => status[0]);
  return is !== best && best === other;
}
