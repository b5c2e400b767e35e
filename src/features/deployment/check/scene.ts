import { type ReplyRecord, readId } from '../deployment-reply.ts';
import type { Probe, Story } from './probes.ts';
import type { World } from './world.ts';

/** What a reply shows, by names in words: `status`, `order`, `entry NEW`. */
export type Facets = Readonly<Record<string, string>>;

export interface Step {
  readonly at: number;
  readonly probe: Probe;
  readonly path: string;
}

/** One telling of a story, to a deployment or to a mock: what to ask next, and what the replies have shown. */
export class Scene {
  readonly story: Story;
  readonly world: World;
  readonly words: Map<string, string>;
  /** A mock has an order of its own, and no other client. */
  readonly isMock: boolean;
  /** The last id that was assigned, if it is known. */
  lastId: bigint | undefined;
  /** What was sent for the animal `NEW`. */
  created: ReplyRecord = {};
  /** By probe. */
  readonly facets: Facets[] = [];
  /** Whether the last reply accepts its request. */
  isAccepted = true;

  constructor(story: Story, world: World, lastId: bigint | undefined, isMock = false) {
    this.story = story;
    this.world = world;
    this.words = new Map(world.words);
    this.lastId = lastId;
    this.isMock = isMock;
  }

  idOf(word: string): bigint | undefined {
    return readId({ id: this.words.get(word) });
  }

  /** What to ask, each after the replies to the one before it; late probes only if `isLate`. */
  *steps(isLate: boolean): Generator<Step> {
    for (const [at, probe] of this.story.probes.entries()) {
      if (probe.isLate !== isLate) continue;
      const path = this.#fill(probe.path);
      if (path === undefined || (probe.isFollowing && !this.isAccepted)) this.isAccepted = false;
      else yield { at, probe, path };
    }
  }

  /** Undefined if nothing stands for a word in it. */
  #fill(path: string): string | undefined {
    const [word] = /[A-Z]{3,}/.exec(path) ?? [];
    if (word === undefined) return path;
    const value = this.words.get(word);
    return value && path.replace(word, () => value);
  }
}

/** What is the same in all. */
export function commonFacets([first = {}, ...others]: readonly Facets[]): Facets {
  return Object.fromEntries(
    Object.entries(first).filter(([name, value]) => others.every((other) => other[name] === value)),
  );
}
