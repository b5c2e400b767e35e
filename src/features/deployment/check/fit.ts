import {
  ASSUMPTION_IDS,
  type AssumptionId,
  type Choices,
  chooseOptions,
  isOptionOf,
  optionsOf,
} from '../../../core/contract/assumption-table.ts';
import { type Observation, type Prediction, predict } from './predict.ts';

/** A facet of a reply, with the value that the best choices predict. */
export interface Evidence {
  readonly observation: Observation;
  readonly at: number;
  readonly facet: string;
  readonly found: string;
  readonly expected: string;
}

/** Finds the choices that explain most of what was seen, and predicts facets under others. */
export class Fit {
  readonly observations: readonly Observation[];
  readonly choices: Choices;
  readonly #predictions = new Map<Observation, Prediction[]>();

  constructor(observations: readonly Observation[]) {
    this.observations = observations;
    this.choices = this.#findBest();
  }

  /** Predicts a sequence. Results are cached by the choices that the sequence reads. */
  predict(observation: Observation, choices = this.choices): Prediction {
    const known = this.#predictions.get(observation) ?? [];
    this.#predictions.set(observation, known);
    const same = known.find(({ reads }) => reads.every(([id, option]) => choices[id] === option));
    if (same !== undefined) return same;
    const prediction = predict(observation, choices);
    known.push(prediction);
    return prediction;
  }

  /** The predictions under the best choices, and under each single change of them. */
  predictAll(observation: Observation): readonly Prediction[] {
    const changed = ASSUMPTION_IDS.flatMap((id) => listOthers(id, this.choices));
    return [this.choices, ...changed].map((choices) => this.predict(observation, choices));
  }

  /** Whether the best choices, or a single change of them, predict the facet as it was seen. */
  isPossible({ observation, at, facet, found }: Evidence): boolean {
    return this.predictAll(observation).some(({ facets }) => facets[at]?.[facet] === found);
  }

  /** Whether a sequence depends on an assumption, under the best choices or one change of them. */
  mayShow(id: AssumptionId, observation: Observation): boolean {
    return this.predictAll(observation).some(({ reads }) => reads.some(([read]) => read === id));
  }

  /** Whether another option of an assumption would change a facet of the sequence. */
  wouldShow(id: AssumptionId, observation: Observation): boolean {
    const best = this.predict(observation);
    return listOthers(id, this.choices).some((other) => {
      return listDifferent(best, this.predict(observation, other)).size > 0;
    });
  }

  /** Changes one assumption at a time, then two at once, until no change explains more. */
  #findBest(): Choices {
    let best = chooseOptions();
    for (let before: Choices | undefined; before !== best; ) {
      before = best;
      for (const id of ASSUMPTION_IDS) best = this.#pickBest(best, listOthers(id, best));
      if (best === before) best = this.#pickBest(best, this.#listPairs(best));
    }
    return best;
  }

  /** Starts with the sequences that the best choices explain least: only there can others win. */
  #pickBest(best: Choices, others: readonly Choices[]): Choices {
    const gapOf = (it: Observation, choices: Choices) => this.predict(it, choices).unexplained;
    const observations = this.observations.toSorted(
      (one, other) => gapOf(other, best) - gapOf(one, best),
    );
    let [found, least] = [best, observations.reduce((sum, it) => sum + gapOf(it, best), 0)];
    for (const choices of others) {
      let sum = 0;
      for (const observation of observations) {
        sum += gapOf(observation, choices);
        if (sum >= least) break;
      }
      if (sum < least) [found, least] = [choices, sum];
    }
    return found;
  }

  /** All pairs of changes of which the first affects a sequence that is not fully explained. */
  #listPairs(best: Choices): readonly Choices[] {
    const doubtful = this.observations.flatMap((observation) => {
      const { unexplained, reads } = this.predict(observation, best);
      return unexplained > 0 ? reads.map(([read]) => read) : [];
    });
    return [...new Set(doubtful)].flatMap((id) =>
      listOthers(id, best).flatMap((choices) =>
        ASSUMPTION_IDS.flatMap((second) => (second === id ? [] : listOthers(second, choices))),
      ),
    );
  }
}

/** The choices again with each other option of an assumption. */
export function listOthers(id: AssumptionId, choices: Choices): Choices[] {
  return optionsOf(id).flatMap((option) => {
    return option !== choices[id] && isOptionOf(id, option) ? { ...choices, [id]: option } : [];
  });
}

/** The names of facets in which two predictions of a sequence differ. */
export function listDifferent(one: Prediction, other: Prediction): ReadonlySet<string> {
  return new Set(
    one.facets.flatMap((facets, at) => {
      const theirs = other.facets[at] ?? {};
      return Object.keys(facets).filter((name) => (theirs[name] ?? facets[name]) !== facets[name]);
    }),
  );
}

/** Whether a reply is as predicted. If not, later probes of the sequence prove nothing. */
export function isAsPredicted({ seen }: Observation, { facets }: Prediction, at: number): boolean {
  return ['status', 'body'].every((name) => seen[at]?.[name] === facets[at]?.[name]);
}
