import { readId } from '../deployment-reply.ts';
import type { ProbeExchange } from './probe-sender.ts';
import type { Step, Story } from './probes.ts';
import type { World } from './world.ts';

/** What a reply shows, by names in words: `status`, `order`, `entry of NEW`. */
export type Facets = Readonly<Record<string, string>>;

/** One telling of a story, to a deployment or to a mock: what to ask next, and what the replies have shown. */
export class Scene {
  readonly story: Story;
  readonly world: World;
  readonly words: Map<string, string>;
  /** A mock has an order of its own, and no other client. */
  readonly isMock: boolean;
  /** The last id that was assigned, if it is known. */
  lastId: bigint | undefined;
  /** By probe. */
  readonly facets: Facets[] = [];
  /** By probe, of a deployment. */
  readonly exchanges: (ProbeExchange | undefined)[] = [];
  /** Why a probe got no answer of the service, or was not sent. */
  reason: string | undefined;
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
      if ((probe.isLate === true) !== isLate) continue;
      const path = this.#fill(probe.path);
      if (path === undefined || (probe.isFollowing === true && !this.isAccepted))
        this.isAccepted = false;
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
