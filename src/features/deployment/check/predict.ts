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
  /** By probe: what was the same in both rounds. */
  readonly seen: readonly Facets[];
}

/** What the mock shows in a story, by probe, and the choices that it reads for it. */
export interface Prediction {
  readonly reads: ReadonlyMap<AssumptionId, string>;
  readonly facets: readonly Facets[];
  readonly isDocumented: readonly boolean[];
  /** How much of what was seen it explains. */
  readonly score: number;
}

/** What a story reads first, and what it reads next under each option of that, until it is told. */
interface Branch {
  readonly id: AssumptionId;
  readonly next: Map<string, Branch | Prediction>;
}

/** What the mock would show under choices; each story is told again only if one that it reads differs. */
export class Predictor {
  readonly #known = new Map<Exhibit, Branch | Prediction>();

  predict(exhibit: Exhibit, choices: Choices): Prediction {
    let known = this.#known.get(exhibit);
    while (known !== undefined && 'next' in known) known = known.next.get(choices[known.id]);
    if (known !== undefined) return known;
    const prediction = predictStory(exhibit, choices);
    const grown = graft(this.#known.get(exhibit), prediction, [...prediction.reads]);
    this.#known.set(exhibit, grown);
    return prediction;
  }
}

function graft(
  tree: Branch | Prediction | undefined,
  prediction: Prediction,
  [first, ...others]: readonly (readonly [AssumptionId, string])[],
): Branch | Prediction {
  if (first === undefined) return prediction;
  const [id, option] = first;
  const branch = tree !== undefined && 'next' in tree ? tree : { id, next: new Map() };
  branch.next.set(option, graft(branch.next.get(option), prediction, others));
  return branch;
}

const MOCK_KEYS: Readonly<Record<string, string | null>> = {
  none: null,
  unknown: 'unknown',
  invalid: 'invalid',
  'read-only': 'demo-read-only-key',
};

export function predictStory({ story, world, seen }: Exhibit, choices: Choices): Prediction {
  const reads = new Map<AssumptionId, string>();
  const tracked = new Proxy(choices, {
    get: (target, name) => {
      if (typeof name === 'string' && isRowName(target, name)) reads.set(name, target[name]);
      return Reflect.get(target, name);
    },
  });
  const mock = world.open(tracked);
  const scene = new Scene(story, world, world.store.animals.highestId, true);
  const isDocumented: boolean[] = [];
  for (const isLate of [false, true]) {
    for (const step of scene.steps(isLate)) {
      const { method, headers, body, times, elapsed } = step.probe;
      const key = MOCK_KEYS[step.probe.key ?? ''];
      const request = { method, path: step.path, key, headers, body };
      const replies = Array.from({ length: times }, () => mock(request, elapsed));
      readReplies(scene, step, replies);
      isDocumented[step.at] = replies[0]?.basis.kind === 'documented';
    }
  }
  const shown = seen.flatMap((each, at) =>
    Object.entries(each).filter(([name, value]) => scene.facets[at]?.[name] === value),
  );
  return { reads, facets: scene.facets, isDocumented, score: shown.length };
}
