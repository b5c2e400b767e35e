import type { AssumptionId, Choices } from '../../../core/contract/assumption-table.ts';
import type { Store } from '../../../core/store/store.ts';
import { isRowName } from '../../../core/words.ts';
import type { AskMock } from '../ask-mock.ts';
import { type Facets, type Lists, Scene } from './facets.ts';
import type { Probe, Story } from './probes.ts';

/** From what a mock starts that is asked the same as a deployment. */
export interface World {
  readonly lists: Lists;
  readonly store: Store;
  readonly words: ReadonlyMap<string, string>;
  readonly open: (choices: Choices) => AskMock;
}

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
  readonly score: number;
}

/** Tells a story to a mock, or to what answers like one. */
export function tellStory(story: Story, scene: Scene, ask: AskMock) {
  const facets: Facets[] = [];
  const isDocumented: boolean[] = [];
  let isAccepted = true;
  for (const probe of story.probes) {
    const path = scene.fill(probe.path);
    if (path === undefined || (probe.isFollowing && !isAccepted)) {
      facets.push({});
      isDocumented.push(false);
      isAccepted = false;
      continue;
    }
    const key = probe.key === 'none' ? null : keyOf(probe);
    const request = { method: probe.method, path, key, headers: probe.headers, body: probe.body };
    const replies = Array.from({ length: probe.times }, () => ask(request));
    const [first] = replies;
    if (first === undefined) throw new Error('A probe is sent no time.');
    isAccepted = first.status < 300;
    facets.push(probe.times > 1 ? readBurst(replies) : scene.read(probe, first));
    isDocumented.push(first.isDocumented);
  }
  return { facets, isDocumented };
}

function keyOf({ key }: Probe): string | undefined {
  return key === 'read-only' ? 'demo-read-only-key' : key;
}

/** How many requests of a burst pass before the first is refused. */
export function readBurst(replies: readonly { readonly status: number }[]): Facets {
  const refused = replies.findIndex(({ status }) => status === 429);
  return { status: '200', body: 'any', passed: `${refused === -1 ? replies.length : refused}` };
}

/** What a story reads first, and what it reads next under each option of that, until it is told. */
interface Branch {
  readonly id: AssumptionId;
  readonly next: Map<string, Branch | Prediction>;
}

/** What the mock would show under choices; each story is told again only if one that it reads differs. */
export class Predictor {
  readonly exhibits: readonly Exhibit[];
  readonly #known = new Map<Exhibit, Branch | Prediction>();

  constructor(exhibits: readonly Exhibit[]) {
    this.exhibits = exhibits;
  }

  predict(exhibit: Exhibit, choices: Choices): Prediction {
    let known = this.#known.get(exhibit);
    while (known !== undefined && 'next' in known) known = known.next.get(choices[known.id]);
    if (known !== undefined) return known;
    const prediction = predictStory(exhibit, choices);
    this.#remember(exhibit, prediction);
    return prediction;
  }

  #remember(exhibit: Exhibit, prediction: Prediction): void {
    let set = (node: Branch | Prediction) => void this.#known.set(exhibit, node);
    let known = this.#known.get(exhibit);
    for (const [id, option] of prediction.reads) {
      const branch: Branch =
        known !== undefined && 'next' in known ? known : { id, next: new Map() };
      set(branch);
      set = (node) => void branch.next.set(option, node);
      known = branch.next.get(option);
    }
    set(prediction);
  }

  score(choices: Choices): number {
    return this.exhibits.reduce((sum, each) => sum + this.predict(each, choices).score, 0);
  }
}

function predictStory({ story, world, seen }: Exhibit, choices: Choices): Prediction {
  const reads = new Map<AssumptionId, string>();
  const { lists, words, store, open } = world;
  const scene = new Scene(lists, words, store.animals.highestId);
  const { facets, isDocumented } = tellStory(story, scene, open(trackReads(choices, reads)));
  let score = 0;
  for (const [at, shown] of seen.entries()) {
    for (const [name, value] of Object.entries(shown)) if (facets[at]?.[name] === value) score += 1;
  }
  return { reads, facets, isDocumented, score };
}

function trackReads(choices: Choices, reads: Map<AssumptionId, string>): Choices {
  return new Proxy(choices, {
    get: (target, name) => {
      if (typeof name === 'string' && isRowName(target, name)) reads.set(name, target[name]);
      return Reflect.get(target, name);
    },
  });
}

export function commonFacets([first = {}, ...others]: readonly Facets[]): Facets {
  return Object.fromEntries(
    Object.entries(first).filter(([name, value]) => others.every((other) => other[name] === value)),
  );
}
