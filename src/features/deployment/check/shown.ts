import { OPERATIONS } from '../../../core/contract/operations.ts';
import { isObject } from '../../../core/json.ts';
import { findHeader } from '../../../core/raw-http.ts';
import {
  type DeploymentReply,
  findById,
  findNextQuery,
  parseBody,
  readIds,
} from '../deployment-reply.ts';
import type { Probe } from './probes.ts';
import type { Scene } from './scene.ts';

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
