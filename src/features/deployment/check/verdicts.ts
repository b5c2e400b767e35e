import {
  ASSUMPTION_IDS,
  type AssumptionId,
  type Choices,
} from '../../../core/contract/assumption-table.ts';
import { type Evidence, type Fit, isAsPredicted, listDifferent, listOthers } from './fit.ts';
import { PROMISED } from './promises.ts';
import type { Facets } from './sequence-run.ts';

export interface FitVerdict {
  readonly verdict: 'settled' | 'none-of-the-options' | 'open';
  /** The best option. It is certain only if the verdict is `settled`. */
  readonly option: string;
  /** The facets that prove the option, or that contradict all options. */
  readonly evidence: readonly Evidence[];
  /** Other choices that would explain the replies equally well. */
  readonly instead?: Partial<Choices> | undefined;
}

/**
 * Judges each assumption. Example: `GET /pets/UNKNOWN` got 400, while the default of `unknown-pet`
 * predicts 404. Option 400 explains more replies, so it is the best choice. Under the other option
 * the mock predicts 404, which was not seen, so this probe settles 400. But if 404 together with
 * some option of `invalid-input` also predicted 400, two changes would explain the same, and 400
 * would stay open. More than two changes are not tried, since a probe depends on few assumptions.
 *
 * If two changes explain as much as the best choices, they may leave a third assumption unsettled.
 */
export function judgeAssumptions(fit: Fit): ReadonlyMap<AssumptionId, FitVerdict> {
  const verdicts = new Map(ASSUMPTION_IDS.map((id) => [id, judgeAssumption(fit, id)]));
  const pairs = [...verdicts.values()].flatMap(({ instead = {} }) =>
    Object.keys(instead).length > 1 ? [instead] : [],
  );
  for (const [id, verdict] of verdicts) {
    if (verdict.verdict !== 'settled') continue;
    const both = pairs.find((pair) =>
      listOthers(id, { ...fit.choices, ...pair }).some((it) =>
        explainsAsMuch(fit, it, { ...it, [id]: fit.choices[id] }),
      ),
    );
    if (both !== undefined) verdicts.set(id, { ...verdict, verdict: 'open', instead: both });
  }
  return verdicts;
}

/** Settled only if every other option is refuted. */
function judgeAssumption(fit: Fit, id: AssumptionId): FitVerdict {
  const option = fit.choices[id];
  const compared = listOthers(id, fit.choices).map((other) => {
    return { other, ...compare(fit, other) };
  });
  const evidence = compared.flatMap(({ supports }) => supports);
  const conflicts = compared.flatMap((each) => each.conflicts);
  if (conflicts.length > 0) {
    const isNone = evidence.length === 0 && conflicts.every((each) => isNoOption(fit, each));
    return { verdict: isNone ? 'none-of-the-options' : 'open', option, evidence: conflicts };
  }
  for (const { other, supports } of compared) {
    const instead = findAlternative(fit, id, other, supports);
    if (instead !== undefined) return { verdict: 'open', option, evidence, instead };
  }
  return { verdict: 'settled', option, evidence };
}

/** Where two choices predict different facets: what supports `best`, and what contradicts it. */
function compare(
  fit: Fit,
  other: Choices,
  best = fit.choices,
  observations = fit.observations,
): Readonly<Record<'supports' | 'conflicts', readonly Evidence[]>> {
  const supports: Evidence[] = [];
  const conflicts: Evidence[] = [];
  for (const observation of observations) {
    const [mine, theirs] = [best, other].map((choices) => fit.predict(observation, choices));
    if (mine === undefined || theirs === undefined || mine === theirs) continue;
    const different = listDifferent(mine, theirs);
    for (const [at, seen] of observation.seen.entries()) {
      const isWhole = isAsPredicted(observation, mine, at);
      for (const [facet, found] of Object.entries(seen)) {
        const [expected, otherwise] = [mine.facets[at]?.[facet], theirs.facets[at]?.[facet]];
        if (expected === undefined || !different.has(facet)) continue;
        const evidence = { observation, at, facet, found, expected };
        if (found === expected) {
          if (isWhole && otherwise !== undefined && otherwise !== found) supports.push(evidence);
          // A value that neither choice predicts contradicts both.
        } else if (!saysNothing(seen, mine.facets[at], theirs.facets[at])) conflicts.push(evidence);
      }
      if (!isWhole) break;
    }
  }
  return { supports, conflicts };
}

/** Whether no reply supports `best` (the best choices by default) against `other`. */
function explainsAsMuch(fit: Fit, other: Choices, best?: Choices, observations = fit.observations) {
  return compare(fit, other, best, observations).supports.length === 0;
}

/** Other choices that explain as much: the other option alone, or with a second change. */
function findAlternative(
  fit: Fit,
  id: AssumptionId,
  other: Choices,
  supports: readonly Evidence[],
): Partial<Choices> | undefined {
  const [first] = supports;
  if (first === undefined) return { [id]: other[id] };
  for (const [second] of fit.predict(first.observation, other).reads) {
    const both = (second === id ? [] : listOthers(second, other)).find(
      (it) => explainsAsMuch(fit, it, fit.choices, [first.observation]) && explainsAsMuch(fit, it),
    );
    if (both !== undefined) return { [id]: both[id], [second]: both[second] };
  }
  return undefined;
}

/** Whether no option predicts the facet, and the document does not rule it out. */
function isNoOption(fit: Fit, evidence: Evidence): boolean {
  const { observation, at, facet, found } = evidence;
  const { isDocumented } = fit.predict(observation);
  const isExcluded = facet === 'status' && (found.startsWith('2') || isDocumented[at] === true);
  return !isExcluded && !PROMISED.has(facet) && !fit.isPossible(evidence);
}

/** Whether a reply says nothing: an accepted request does not show how it would be refused. */
function saysNothing(seen: Facets, mine: Facets = {}, theirs: Facets = {}): boolean {
  const [is, best, other] = [seen, mine, theirs].map(({ status = '' }) => status[0]);
  return is !== best && best === other;
}
