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
  readonly verdict: 'settled' | 'none-of-the-options' | 'open';
  /** The best one; certain only if it is settled. */
  readonly option: string;
  /** What proves it, or contradicts every option. */
  readonly evidence: readonly Evidence<E>[];
  /** Other choices that would explain the same. */
  readonly instead?: Partial<Choices> | undefined;
}

/** Finds the choices that explain what was seen, and what else would. */
export class Fit<E extends Exhibit> {
  readonly choices: Choices;
  readonly #exhibits: readonly E[];
  readonly #predictor = new Predictor();
  readonly #options: (id: AssumptionId) => readonly string[];

  /** @param rate what a burst has shown, if it is no usual option */
  constructor(exhibits: readonly E[], rate?: string) {
    this.#exhibits = exhibits;
    this.#options = (id) =>
      id === 'rate-limit' && rate !== undefined ? [...optionNames(id), rate] : optionNames(id);
    this.choices = this.#findBest();
  }

  #others(id: AssumptionId, choices: Choices): Choices[] {
    return this.#options(id).flatMap((option) => {
      if (option === choices[id]) return [];
      if (!isOption(id, option)) throw new TypeError(`${id} has no option ${option}`);
      return { ...choices, [id]: option };
    });
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
    const scoreOf = (choices: Choices) =>
      this.#exhibits.reduce((sum, it) => sum + this.#predictor.predict(it, choices).score, 0);
    let [found, most] = [best, scoreOf(best)];
    for (const choices of others) {
      const score = scoreOf(choices);
      if (score > most) [found, most] = [choices, score];
    }
    return found;
  }

  /** The first change has to matter where something is not yet explained, the second where it matters. */
  #listPairs(best: Choices): readonly Choices[] {
    const doubtful = this.#exhibits.flatMap((exhibit) => {
      const { score, reads } = this.#predictor.predict(exhibit, best);
      const wanted = exhibit.seen.reduce((sum, shown) => sum + Object.keys(shown).length, 0);
      return score < wanted ? [...reads.keys()] : [];
    });
    return [...new Set(doubtful)].flatMap((id) =>
      this.#others(id, best).flatMap((choices) => {
        const readings = this.#exhibits.map((it) => this.#predictor.predict(it, choices).reads);
        const together = readings.flatMap((reads) => (reads.has(id) ? [...reads.keys()] : []));
        const seconds = [...new Set(together)].filter((second) => second !== id);
        return seconds.flatMap((second) => this.#others(second, choices));
      }),
    );
  }

  judge(id: AssumptionId): FitVerdict<E> {
    const option = this.choices[id];
    const found = this.#others(id, this.choices).map((other) => {
      return { other, ...this.#compare(other) };
    });
    const conflicts = found.flatMap((each) => each.conflicts);
    if (conflicts.length > 0) {
      const isNone =
        !found.some(({ supports, isOtherSeen }) => supports.length > 0 || isOtherSeen) &&
        conflicts.every((each) => this.#isOtherwise(each));
      const verdict = isNone ? 'none-of-the-options' : 'open';
      return { verdict, option, evidence: conflicts };
    }
    const evidence = found.flatMap(({ supports }) => supports);
    for (const { other, supports } of found) {
      const instead = this.#findAlternative(id, other, supports);
      if (instead !== undefined) return { verdict: 'open', option, evidence, instead };
    }
    return { verdict: 'settled', option, evidence };
  }

  /** What speaks for the best choices, and what against them, where others predict something else. */
  #compare(other: Choices) {
    const supports: Evidence<E>[] = [];
    const conflicts: Evidence<E>[] = [];
    let isOtherSeen = false;
    for (const exhibit of this.#exhibits) {
      const best = this.#predictor.predict(exhibit, this.choices);
      const next = this.#predictor.predict(exhibit, other);
      if (best === next) continue;
      const changed = listChanged(best, next);
      for (const [at, shown] of exhibit.seen.entries()) {
        const isWhole = isAsPredicted(exhibit, best, at);
        for (const [facet, value] of Object.entries(shown)) {
          const [mine, theirs] = [best.facets[at]?.[facet], next.facets[at]?.[facet]];
          if (mine === undefined || !changed.has(facet)) continue;
          const found = { exhibit, at, facet };
          if (value === mine) {
            if (isWhole && theirs !== undefined && theirs !== mine) supports.push(found);
          } else if (
            // What neither explains in a story speaks against both.
            !saysNothing(shown, best.facets[at], next.facets[at]) &&
            (value === theirs || !VOLATILE.includes(facet))
          ) {
            isOtherSeen ||= value === theirs;
            conflicts.push(found);
          }
        }
        if (!isWhole) break;
      }
    }
    return { supports, conflicts, isOtherSeen };
  }

  /** The other option if nothing speaks against it, or a second change that takes back all that does. */
  #findAlternative(
    id: AssumptionId,
    other: Choices,
    supports: readonly Evidence<E>[],
  ): Partial<Choices> | undefined {
    if (supports.length === 0) return { [id]: other[id] };
    const readings = supports.map(({ exhibit }) => this.#predictor.predict(exhibit, other).reads);
    for (const second of readings[0]?.keys() ?? []) {
      if (second === id || !readings.every((reads) => reads.has(second))) continue;
      for (const both of this.#others(second, other)) {
        if (this.#compare(both).supports.length > 0) continue;
        return { [id]: both[id], [second]: both[second] };
      }
    }
    return undefined;
  }

  /** Whether it is what no option shows, though the document does not exclude it. */
  #isOtherwise({ exhibit, at, facet }: Evidence<E>): boolean {
    const isDocumented = this.#predictor.predict(exhibit, this.choices).isDocumented[at];
    const isAccepted = exhibit.seen[at]?.[facet]?.startsWith('2');
    if (facet === 'status' && (isAccepted || isDocumented)) return false;
    return !this.#isExplained(exhibit, at, facet);
  }

  /** Whether the mock shows it under the best choices, or with a single change of them. */
  #isExplained(exhibit: E, at: number, facet: string): boolean {
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
    return this.#neighbours().some((it) => this.#predictor.predict(exhibit, it).reads.has(id));
  }

  /** Whether other options of an assumption would show something else in a story. */
  wouldShow(id: AssumptionId, exhibit: Exhibit): boolean {
    const best = this.#predictor.predict(exhibit, this.choices);
    return this.#others(id, this.choices).some((other) => {
      return listChanged(best, this.#predictor.predict(exhibit, other)).size > 0;
    });
  }

  /** The first status of a story that no choices explain. */
  findWrongStatus(exhibit: E) {
    const best = this.#predictor.predict(exhibit, this.choices);
    const at = exhibit.seen.findIndex((_, probe) => !isAsPredicted(exhibit, best, probe));
    const [found, expected] = [exhibit.seen[at]?.status, best.facets[at]?.status];
    if (found === undefined || expected === undefined) return undefined;
    if (this.#isExplained(exhibit, at, 'status')) return undefined;
    return { at, found, expected, isDocumented: best.isDocumented[at] === true };
  }
}

/** Facets that other clients can change, too: only what the mock predicts says something. */
export const VOLATILE: readonly string[] = ['entry of PET'];

/** Whether a reply is one that the choices lead to; a story is followed only so far. */
function isAsPredicted({ seen }: Exhibit, { facets }: Prediction, at: number): boolean {
  return ['status', 'body'].every((name) => seen[at]?.[name] === facets[at]?.[name]);
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
