import type { AssumptionId, Choices } from '../../../core/contract/assumption-table.ts';
import { isRowName } from '../../../core/tables.ts';
import type { DeploymentModel } from './deployment-model.ts';
import { noteReplies } from './facets.ts';
import type { Sequence } from './probes.ts';
import { type Facets, parseExchange, SequenceRun } from './sequence-run.ts';

/** What both rounds have shown of a deployment in one sequence. */
export interface Observation {
  readonly sequence: Sequence;
  /** The model at the start of the last round. */
  readonly model: DeploymentModel;
  /** The sequence's runs in both rounds. */
  readonly runs: readonly SequenceRun[];
  /** The facets of each probe that were equal in both rounds. */
  readonly seen: readonly Facets[];
}

/** What the mock shows in a sequence, and which choices it reads for that. */
export interface Prediction {
  readonly reads: readonly (readonly [AssumptionId, string])[];
  readonly facets: readonly Facets[];
  readonly isDocumented: readonly boolean[];
  /** How many of the seen facets the prediction contradicts. */
  readonly unexplained: number;
}

/** Wraps choices to record which of them are read. */
export function trackReads(choices: Choices) {
  const reads = new Map<AssumptionId, string>();
  const tracked = new Proxy(choices, {
    get: (target, name) => {
      if (typeof name === 'string' && isRowName(target, name)) reads.set(name, target[name]);
      return Reflect.get(target, name);
    },
  });
  return { reads, tracked };
}

const MOCK_KEYS: Readonly<Record<string, string | null>> = {
  none: null,
  unknown: 'unknown',
  invalid: 'invalid',
  'read-only': 'demo-read-only-key',
};

/** Runs a sequence on a mock with the deployment's records and these choices. */
export function predict({ sequence, model, seen }: Observation, choices: Choices): Prediction {
  const { reads, tracked } = trackReads(choices);
  const mock = model.openMock(tracked);
  const run = new SequenceRun(sequence, model, model.store.animals.highestId, { isMock: true });
  const isDocumented: boolean[] = [];
  for (const isLate of [false, true]) {
    for (const step of run.steps(isLate)) {
      const { method, headers, body, times, elapsed, key: name = '' } = step.probe;
      const request = { method, path: step.path, key: MOCK_KEYS[name], headers, body };
      const replies = Array.from({ length: times }, () => mock(request, elapsed));
      noteReplies(
        run,
        replies.map((reply) => parseExchange(step, reply)),
      );
      isDocumented[step.at] = replies[0]?.basis.kind === 'documented';
    }
  }
  const unexplained = seen.flatMap((facets, at) =>
    Object.entries(facets).filter(([name, value]) => run.facets[at]?.[name] !== value),
  );
  return { reads: [...reads], facets: run.facets, isDocumented, unexplained: unexplained.length };
}
