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
  readonly reads: ReadonlyMap<AssumptionId, string>;
  readonly facets: readonly Facets[];
  readonly isDocumented: readonly boolean[];
  /** How much of what was seen it leaves unexplained. */
  readonly gap: number;
}

/** What a story reads next, and what follows under each option of that, until it is told. */
interface Branch {
  id?: AssumptionId;
  readonly next: Map<string, Branch>;
  told?: Prediction;
}

function follow({ next }: Branch, option: string): Branch {
  const branch = next.get(option) ?? { next: new Map() };
  next.set(option, branch);
  return branch;
}

/** What the mock would show under choices; a story is told again only if one differs that it reads. */
export class Predictor {
  readonly #told = new Map<Exhibit, Branch>();

  predict(exhibit: Exhibit, choices: Choices): Prediction {
    let branch: Branch = this.#told.get(exhibit) ?? { next: new Map() };
    this.#told.set(exhibit, branch);
    let known = 0;
    for (; branch.id !== undefined; known += 1) branch = follow(branch, choices[branch.id]);
    if (branch.told !== undefined) return branch.told;
    const told = predictStory(exhibit, choices);
    for (const [id, option] of [...told.reads].slice(known)) {
      branch.id = id;
      branch = follow(branch, option);
    }
    branch.told = told;
    return told;
  }
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

function predictStory({ story, world, seen }: Exhibit, choices: Choices): Prediction {
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
  return { reads, facets: scene.facets, isDocumented, gap: gaps.length };
}
