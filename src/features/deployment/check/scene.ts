import { type DeploymentReply, findById, type ReplyRecord, readId } from '../deployment-reply.ts';
import type { Probe, Story } from './probes.ts';
import type { World } from './world.ts';

/** What a reply shows, by names in words: `status`, `order`, `stock of NEW`. */
export type Facets = Readonly<Record<string, string>>;

/** A probe of a story, with what its words stand for. */
export interface Step {
  readonly at: number;
  readonly probe: Probe;
  readonly path: string;
}

export interface ProbeExchange {
  readonly probe: Probe;
  readonly path: string;
  readonly reply: DeploymentReply;
  /** What it shows is not newer, in milliseconds; a cache rounds its `Age` down. */
  readonly shownSince: number;
}

/** One telling of a story, to a deployment or to a mock: what to ask next, and what the replies have shown. */
export class Scene {
  readonly story: Story;
  readonly world: World;
  readonly words: Map<string, string>;
  /** A mock has an order of its own, and no other client. */
  readonly isMock: boolean;
  /** The same story in the round before. */
  readonly earlier: Scene | undefined;
  /** The last id that was assigned, if it is known. */
  lastId: bigint | undefined;
  /** By probe. */
  readonly facets: Facets[] = [];
  /** By probe, of a deployment. */
  readonly exchanges: (ProbeExchange | undefined)[] = [];
  /** Why a probe got no answer of the service, was not sent, or proves nothing. */
  reason: string | undefined;
  /** The animals of all filtered lists, and whether each had all that it filters. */
  readonly filtered = new Set<bigint>();
  isFilteredWhole = true;
  /** What was sent of the animal that the story created. */
  created: ReplyRecord | undefined;

  constructor(
    story: Story,
    world: World,
    lastId: bigint | undefined,
    { isMock = false, earlier }: { isMock?: boolean; earlier?: Scene | undefined } = {},
  ) {
    this.story = story;
    this.world = world;
    this.words = new Map(world.words);
    this.lastId = lastId;
    this.isMock = isMock;
    this.earlier = earlier;
    const { order, orderWord, probes } = story;
    // Other stories do not know what becomes of it.
    if (!probes.some(({ path }) => path.includes('STOCK'))) this.words.delete('STOCK');
    if (order === undefined || orderWord === undefined) return;
    const petId = readId(findById(world.lists.orders, order), 'petId');
    this.words.set(orderWord, `${order}`);
    if (petId !== undefined) this.words.set('PET', `${petId}`);
  }

  idOf(word: string): bigint | undefined {
    return readId({ id: this.words.get(word) });
  }

  /** What to ask, each after the replies to the one before it; late probes only if `isLate`. */
  *steps(isLate: boolean): Generator<Step> {
    for (const [at, probe] of this.story.probes.entries()) {
      const [word] = /[A-Z]{3,}/.exec(probe.path) ?? [];
      const value = word === undefined ? '' : this.words.get(word);
      if ((probe.isLate === true) !== isLate || value === undefined) continue;
      yield {
        at,
        probe,
        path: word === undefined ? probe.path : probe.path.replace(word, () => value),
      };
    }
  }
}
