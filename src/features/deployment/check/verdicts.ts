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
  /** The best option, which is certain only if it is settled. */
  readonly option: string;
  /** What proves the option, or contradicts every option. */
  readonly evidence: readonly Evidence[];
  /** Other choices that would explain the same. */
  readonly instead?: Partial<Choices> | undefined;
}

/**
 * Judges each assumption. An example: `GET /pets/UNKNOWN` got 400 where the default of `unknown-pet` predicts 404. Its
 * option 400 explains more, so it is the best choice. Under the other option, the mock predicts 404, which was not seen:
 * 400 is settled by this probe. But if 400 were also what 404 and some option of `invalid-input` predict together, two
 * changes would explain the same, and it would stay open. More than two changes at once are not tried: a probe reads few
 * assumptions, and drawn deployments have shown none.
 *
 * Where two changes explain as much as the best choices, a third one may not explain it as well.
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

/** Settled only if each other option is refuted. */
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

/** What supports the best choices, or those as good, and what conflicts with them, where others predict something else. */
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
          // What neither explains in a sequence conflicts with both.
        } else if (!saysNothing(seen, mine.facets[at], theirs.facets[at])) conflicts.push(evidence);
      }
      if (!isWhole) break;
    }
  }
  return { supports, conflicts };
}

/** Whether nothing supports the best choices, or those as good, against others. */
function explainsAsMuch(fit: Fit, other: Choices, best?: Choices, observations = fit.observations) {
  return compare(fit, other, best, observations).supports.length === 0;
}

/** The other option if nothing speaks against it, or a second change that takes back all that does. */
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

/** Whether it is what no option shows, though the document does not exclude it. */
function isNoOption(fit: Fit, evidence: Evidence): boolean {
  const { observation, at, facet, found } = evidence;
  const { isDocumented } = fit.predict(observation);
  const isExcluded = facet === 'status' && (found.startsWith('2') || isDocumented[at] === true);
  return !isExcluded && !PROMISED.has(facet) && !fit.isPossible(evidence);
}

/** An accepted request does not show how it would be refused, nor the other way round. */
function saysNothing(seen: Facets, mine: Facets = {}, theirs: Facets = {}): boolean {
  const [is, best, other] = [seen, mine, theirs].map(({ status = '' }) => status[0]);
  return is !== best && best === other;
}
