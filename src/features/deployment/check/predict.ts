import type { AssumptionId, Choices } from '../../../core/contract/assumption-table.ts';
import { isRowName } from '../../../core/words.ts';
import { readReplies } from './facets.ts';
import type { Story } from './probes.ts';
import { type Facets, Scene } from './scene.ts';
import type { World } from './world.ts';

/** What both rounds of a story have shown. */
export interface Exhibit {
  readonly story: Story;
  /** Of the last round. */
  readonly world: World;
  /** One for each round. */
  readonly scenes: readonly Scene[];
  /** By probe: what was the same in both rounds. */
  readonly seen: readonly Facets[];
}

/** What the mock shows in a story, by probe, and the choices that it reads for it. */
export interface Prediction {
  readonly reads: readonly (readonly [AssumptionId, string])[];
  readonly facets: readonly Facets[];
  readonly isDocumented: readonly boolean[];
  /** How much of what was seen it leaves unexplained. */
  readonly gap: number;
}

/** Choices that note which of them are read. */
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

export function predictStory({ story, world, seen }: Exhibit, choices: Choices): Prediction {
  const { reads, tracked } = trackReads(choices);
  const mock = world.open(tracked);
  const scene = new Scene(story, world, world.store.animals.highestId, { isMock: true });
  const isDocumented: boolean[] = [];
  for (const isLate of [false, true]) {
    for (const step of scene.steps(isLate)) {
      const { method, headers, body, times, elapsed, key: name = '' } = step.probe;
      const request = { method, path: step.path, key: MOCK_KEYS[name], headers, body };
      const replies = Array.from({ length: times }, () => mock(request, elapsed));
      readReplies(scene, step, replies);
      isDocumented[step.at] = replies[0]?.basis.kind === 'documented';
    }
  }
  const gaps = seen.flatMap((each, at) =>
    Object.entries(each).filter(([name, value]) => scene.facets[at]?.[name] !== value),
  );
  return { reads: [...reads], facets: scene.facets, isDocumented, gap: gaps.length };
}
