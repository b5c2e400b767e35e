import { OPERATIONS } from '../../../core/contract/operations.ts';
import { isObject } from '../../../core/json.ts';
import { findHeader } from '../../../core/raw-http.ts';
import {
  type DeploymentReply,
  findById,
  findNextQuery,
  parseBody,
  type ReplyRecord,
  readId,
  readIds,
} from '../deployment-reply.ts';
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

/** A reply, and what a facet of it can depend on. */
export interface Shown extends ReturnType<typeof readShown> {
  readonly reply: DeploymentReply;
  readonly probe: Probe;
  readonly path: string;
  readonly scene: Scene;
}

export type Read = (shown: Shown) => string | undefined;
export type Facts = Readonly<Record<string, Read>>;

/** The records of a reply that accepts its request; undefined if its body is not what the operation gives. */
export function readShown({ operation }: Probe, { status, body }: DeploymentReply) {
  const json = parseBody(body);
  const isList = Array.isArray(json);
  const isRead = status < 400 && isList === (operation?.startsWith('list') === true);
  const records = isRead ? [json].flat().filter(isObject) : [];
  const ids = readIds(records, operation?.endsWith('Inventory') ? 'petId' : 'id');
  return { json, records, ids, isRead: isRead && (isList || records.length > 0) };
}

/** A page can have more animals than it shows. */
export const MAX_PAGE = 100;

export const isNextPage = (path: string) => /NEXT|offset/.test(path);
const FILTERS = OPERATIONS.listPets.parameters.flatMap(({ name }) =>
  name === 'limit' ? [] : `${name}=`,
);

export const isFilter = ({ path }: Probe) => FILTERS.some((filter) => path.includes(filter));

/** NaN for one that is no documented limit. */
export function limitOf({ path }: Probe): number {
  const limit = Number(/limit=([^&]*)/.exec(path)?.[1] ?? 20);
  return limit >= 1 && limit <= MAX_PAGE ? limit : Number.NaN;
}

/** Whether a list of animals leads to no other page, and is of this time. */
export function isWhole({ reply, ids }: Pick<Shown, 'reply' | 'ids'>): boolean {
  const [total = ids.length, age = 0] = ['x-total-count', 'age'].map((name) =>
    findHeader(reply.headers, name),
  );
  return findNextQuery(reply) === undefined && Number(total) <= ids.length && Number(age) === 0;
}

export const stockOf =
  (word: string): Read =>
  ({ records, scene }) => {
    const id = scene.idOf(word);
    return id === undefined
      ? undefined
      : String(findById(records, id, 'petId')?.quantity ?? 'none');
  };
