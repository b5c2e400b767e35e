import type { DeploymentReply } from '../deployment-reply.ts';
import { type Facets, type Memory, readFacets } from './facets.ts';
import type { Probe, Story } from './probes.ts';
import type { World } from './world.ts';

export interface Step {
  readonly at: number;
  readonly probe: Probe;
  readonly path: string;
}

/** One telling of a story, to a deployment or to a mock: what to ask next, and what the replies have shown. */
export class Scene implements Memory {
  readonly story: Story;
  readonly world: World;
  readonly lists: World['lists'];
  readonly clock: number;
  readonly words: Map<string, string>;
  readonly isMock: boolean;
  lastId: bigint | undefined;
  created = {};
  /** By probe. */
  readonly facets: Facets[] = [];
  #isAccepted = true;

  constructor(story: Story, world: World, lastId: bigint | undefined, isMock = false) {
    this.story = story;
    this.world = world;
    this.lists = world.lists;
    this.clock = world.clock;
    this.words = new Map(world.words);
    this.lastId = lastId;
    this.isMock = isMock;
  }

  isOwn(petId: bigint): boolean {
    return this.world.store.inventory.get(petId) !== undefined;
  }

  /** What to ask, each after the replies to the one before it; late probes only if `isLate`. */
  *steps(isLate: boolean): Generator<Step> {
    for (const [at, probe] of this.story.probes.entries()) {
      if (probe.isLate !== isLate) continue;
      const path = this.#fill(probe.path);
      if (path === undefined || (probe.isFollowing && !this.#isAccepted)) this.#isAccepted = false;
      else yield { at, probe, path };
    }
  }

  take({ at, probe }: Step, replies: readonly DeploymentReply[]): void {
    const [first] = replies;
    if (first === undefined) throw new Error('A probe was sent no time.');
    this.#isAccepted = first.status < 300;
    this.facets[at] = probe.times > 1 ? readBurst(replies) : readFacets(probe, first, this);
  }

  /** Undefined if nothing stands for a word in it. */
  #fill(path: string): string | undefined {
    const [word] = /[A-Z]{3,}/.exec(path) ?? [];
    if (word === undefined) return path;
    const value = this.words.get(word);
    return value && path.replace(word, () => value);
  }
}

/** How many requests of a burst pass before the first is refused. */
function readBurst(replies: readonly DeploymentReply[]): Facets {
  const refused = replies.findIndex(({ status }) => status === 429);
  return { status: '200', body: 'any', passed: `${refused === -1 ? replies.length : refused}` };
}

/** What is the same in all. */
export function commonFacets([first = {}, ...others]: readonly Facets[]): Facets {
  return Object.fromEntries(
    Object.entries(first).filter(([name, value]) => others.every((other) => other[name] === value)),
  );
}
