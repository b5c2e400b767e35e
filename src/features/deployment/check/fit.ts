import {
  ASSUMPTION_IDS,
  type AssumptionId,
  type Choices,
  chooseOptions,
  isOption,
  optionNames,
} from '../../../core/contract/assumption-table.ts';
import { type Exhibit, type Prediction, predictStory } from './predict.ts';
import { PROMISED } from './promises.ts';
import type { Facets } from './scene.ts';

/** A facet of a probe's reply, and what the best choices show instead. */
export interface Evidence {
  readonly exhibit: Exhibit;
  readonly at: number;
  readonly facet: string;
  readonly found: string;
  readonly expected: string;
}

export interface FitVerdict {
  readonly verdict: 'settled' | 'none-of-the-options' | 'open';
  /** The best one; certain only if it is settled. */
  readonly option: string;
  /** What proves it, or contradicts every option. */
  readonly evidence: readonly Evidence[];
  /** Other choices that would explain the same. */
  readonly instead?: Partial<Choices> | undefined;
}

/**
 * Finds the choices that explain what was seen, and what else would. An example: `GET /pets/UNKNOWN` got 400 where the
 * default of `unknown-pet` predicts 404. Its option 400 explains more, so it is the best choice. Asked under the other
 * option, the mock predicts 404, which was not seen: 400 is settled by this probe. But if 400 were also what 404 and
 * some option of `invalid-input` predict together, two changes would explain the same, and it would stay open. More
 * than two changes at once are not tried: a probe reads few assumptions, and drawn deployments have shown none.
 */
export class Fit {
  readonly choices: Choices;
  readonly #exhibits: readonly Exhibit[];
  readonly broken: readonly Evidence[];
  readonly #told = new Map<Exhibit, Prediction[]>();

  constructor(exhibits: readonly Exhibit[]) {
    this.#exhibits = exhibits;
    this.choices = this.#findBest();
    this.broken = exhibits.flatMap((exhibit) => this.#listBroken(exhibit));
  }

  /** What the mock shows under choices; a story is told again only if one differs that it reads. */
  predict(exhibit: Exhibit, choices: Choices): Prediction {
    const told = this.#told.get(exhibit) ?? [];
    this.#told.set(exhibit, told);
    const known = told.find(({ reads }) => reads.every(([id, option]) => choices[id] === option));
    if (known !== undefined) return known;
    const prediction = predictStory(exhibit, choices);
    told.push(prediction);
    return prediction;
  }

  #others(id: AssumptionId, choices: Choices): Choices[] {
    return optionNames(id).flatMap((option) => {
      return option !== choices[id] && isOption(id, option) ? { ...choices, [id]: option } : [];
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

  /** Asks first where the best ones leave most unexplained, since only there can others explain more. */
  #pickBest(best: Choices, others: readonly Choices[]): Choices {
    const gapOf = (exhibit: Exhibit, choices: Choices) => this.predict(exhibit, choices).gap;
    const exhibits = this.#exhibits.toSorted((one, other) => gapOf(other, best) - gapOf(one, best));
    let [found, least] = [best, exhibits.reduce((sum, it) => sum + gapOf(it, best), 0)];
    for (const choices of others) {
      let sum = 0;
      for (const exhibit of exhibits) {
        sum += gapOf(exhibit, choices);
        if (sum >= least) break;
      }
      if (sum < least) [found, least] = [choices, sum];
    }
    return found;
  }

  /** The first change has to matter where something is not yet explained. */
  #listPairs(best: Choices): readonly Choices[] {
    const doubtful = this.#exhibits.flatMap((exhibit) => {
      const { gap, reads } = this.predict(exhibit, best);
      return gap > 0 ? reads.map(([read]) => read) : [];
    });
    return [...new Set(doubtful)].flatMap((id) =>
      this.#others(id, best).flatMap((choices) =>
        ASSUMPTION_IDS.flatMap((second) => (second === id ? [] : this.#others(second, choices))),
      ),
    );
  }

  /** Where two changes explain as much as the best choices, a third one may not explain it as well. */
  judgeAll(): ReadonlyMap<AssumptionId, FitVerdict> {
    const verdicts = new Map(ASSUMPTION_IDS.map((id) => [id, this.#judge(id)]));
    const pairs = [...verdicts.values()].flatMap(({ instead = {} }) =>
      Object.keys(instead).length > 1 ? [instead] : [],
    );
    for (const [id, verdict] of verdicts) {
      if (verdict.verdict !== 'settled') continue;
      const both = pairs.find((pair) =>
        this.#others(id, { ...this.choices, ...pair }).some(
          (it) => this.#compare(it, { ...it, [id]: this.choices[id] }).supports.length === 0,
        ),
      );
      if (both !== undefined) verdicts.set(id, { ...verdict, verdict: 'open', instead: both });
    }
    return verdicts;
  }

  #judge(id: AssumptionId): FitVerdict {
    const option = this.choices[id];
    const found = this.#others(id, this.choices).map((other) => {
      return { other, ...this.#compare(other) };
    });
    const conflicts = found.flatMap((each) => each.conflicts);
    if (conflicts.length > 0) {
      const isNone =
        !found.some(({ supports }) => supports.length > 0) &&
        conflicts.every((each) => this.#isOtherwise(each));
      return { verdict: isNone ? 'none-of-the-options' : 'open', option, evidence: conflicts };
    }
    const evidence = found.flatMap(({ supports }) => supports);
    for (const { other, supports } of found) {
      const instead = this.#findAlternative(id, other, supports);
      if (instead !== undefined) return { verdict: 'open', option, evidence, instead };
    }
    return { verdict: 'settled', option, evidence };
  }

  /** What speaks for the best choices, or those as good, and what against them, where others predict something else. */
  #compare(other: Choices, from = this.choices, exhibits = this.#exhibits) {
    const supports: Evidence[] = [];
    const conflicts: Evidence[] = [];
    for (const exhibit of exhibits) {
      const best = this.predict(exhibit, from);
      const next = this.predict(exhibit, other);
      if (best === next) continue;
      const changed = listChanged(best, next);
      for (const [at, shown] of exhibit.seen.entries()) {
        const isWhole = isAsPredicted(exhibit, best, at);
        for (const [facet, found] of Object.entries(shown)) {
          const [expected, theirs] = [best.facets[at]?.[facet], next.facets[at]?.[facet]];
          if (expected === undefined || !changed.has(facet)) continue;
          const evidence = { exhibit, at, facet, found, expected };
          if (found === expected) {
            if (isWhole && theirs !== undefined && theirs !== found) supports.push(evidence);
            // What neither explains in a story speaks against both.
          } else if (!saysNothing(shown, best.facets[at], next.facets[at]))
            conflicts.push(evidence);
        }
        if (!isWhole) break;
      }
    }
    return { supports, conflicts };
  }

  /** The other option if nothing speaks against it, or a second change that takes back all that does. */
  #findAlternative(
    id: AssumptionId,
    other: Choices,
    supports: readonly Evidence[],
  ): Partial<Choices> | undefined {
    const [first] = supports;
    if (first === undefined) return { [id]: other[id] };
    const isSame = (both: Choices, exhibits = this.#exhibits) =>
      this.#compare(both, this.choices, exhibits).supports.length === 0;
    for (const [second] of this.predict(first.exhibit, other).reads) {
      const found = second === id ? [] : this.#others(second, other);
      const both = found.find((it) => isSame(it, [first.exhibit]) && isSame(it));
      if (both !== undefined) return { [id]: both[id], [second]: both[second] };
    }
    return undefined;
  }

  /** Whether it is what no option shows, though the document does not exclude it. */
  #isOtherwise(evidence: Evidence): boolean {
    const { exhibit, at, facet, found } = evidence;
    const { isDocumented } = this.predict(exhibit, this.choices);
    const isExcluded = facet === 'status' && (found.startsWith('2') || isDocumented[at] === true);
    return !isExcluded && !PROMISED.has(facet) && !this.#isPossible(evidence);
  }

  #isPossible({ exhibit, at, facet, found }: Evidence): boolean {
    return this.#tellAll(exhibit).some(({ facets }) => facets[at]?.[facet] === found);
  }

  /** Under the best choices, and with a single change of them. */
  #tellAll(exhibit: Exhibit): readonly Prediction[] {
    const changed = ASSUMPTION_IDS.flatMap((id) => this.#others(id, this.choices));
    return [this.choices, ...changed].map((choices) => this.predict(exhibit, choices));
  }

  /** Whether a story depends on an assumption, also if another one had another option. */
  mayShow(id: AssumptionId, exhibit: Exhibit): boolean {
    return this.#tellAll(exhibit).some(({ reads }) => reads.some(([read]) => read === id));
  }

  /** Whether other options of an assumption would show something else in a story. */
  wouldShow(id: AssumptionId, exhibit: Exhibit): boolean {
    const best = this.predict(exhibit, this.choices);
    return this.#others(id, this.choices).some((other) => {
      return listChanged(best, this.predict(exhibit, other)).size > 0;
    });
  }

  /** What the document excludes: every option shows the same, and the deployment something else. */
  #listBroken(exhibit: Exhibit): Evidence[] {
    const best = this.predict(exhibit, this.choices);
    const broken: Evidence[] = [];
    for (const [at, shown] of exhibit.seen.entries()) {
      for (const [facet, found] of Object.entries(shown)) {
        const expected = best.facets[at]?.[facet];
        if (expected === undefined || expected === found) continue;
        const evidence = { exhibit, at, facet, found, expected };
        const isBroken =
          facet === 'status'
            ? isPrescribed(exhibit, best, at) && !this.#isPossible(evidence)
            : PROMISED.has(facet) && this.#isPromised(evidence);
        if (isBroken) broken.push(evidence);
      }
      if (!isAsPredicted(exhibit, best, at)) break;
    }
    return broken;
  }

  /** Whether all options agree that lead to the reply. */
  #isPromised({ exhibit, at, facet, expected }: Evidence): boolean {
    return this.#tellAll(exhibit).every((told) => {
      const before = exhibit.seen.slice(0, at);
      const isLed = before.every((_, index) => isAsPredicted(exhibit, told, index));
      const { status, [facet]: other = expected } = told.facets[at] ?? {};
      return !isLed || status !== exhibit.seen[at]?.status || other === expected;
    });
  }
}

/** Whether the document gives the status, or refuses an input that was accepted. */
function isPrescribed({ story, seen }: Exhibit, best: Prediction, at: number): boolean {
  const { operation, isOnce } = story.probes[at] ?? {};
  const found = seen[at]?.status ?? '';
  // The user may have named an order that cannot be cancelled.
  if (isOnce === true && /^40[49]$/.test(found)) return false;
  return best.isDocumented[at] === true || (operation !== undefined && found.startsWith('2'));
}

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
