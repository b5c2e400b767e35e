import { OPERATIONS } from '../../contract/operations.ts';
import { type Animal, RECORDS } from '../../contract/records.ts';
import { DeploymentError, type DeploymentReply, headerOf } from '../deployment-client.ts';
import { nextQuery } from '../next-query.ts';
import { type RecordWithMembers, readList } from './read-records.ts';

/** Sends a GET to a path under the base URL. */
export type Get = (path: string) => Promise<DeploymentReply>;

const [LIMIT] = OPERATIONS.listPets.parameters;

/** A million animals. A deployment can link pages without end. */
const MOST_PAGES = 10_000;

/** Statuses for a parameter that a deployment does not accept. */
const REFUSALS: readonly number[] = [400, 404, 410, 422];

/**
 * Lists the animals of a deployment. The document does not say how to request the next page: this
 * follows `Link`, and otherwise tries `offset`.
 *
 * @returns the animals by id, and what may be missing
 */
export async function listAnimals(
  get: Get,
): Promise<{ animals: ReadonlyMap<bigint, RecordWithMembers<Animal>>; gaps: readonly string[] }> {
  const animals = new Map<bigint, RecordWithMembers<Animal>>();
  const first = `/pets?limit=${LIMIT.maximum}`;
  let [path, count, isWhole, wasLinked] = [first, 0, false, false];
  let total: number | undefined;
  for (let pages = 0; ; pages += 1) {
    if (pages === MOST_PAGES) throw new DeploymentError(`GET ${path}: no end after ${pages} pages`);
    const reply = await get(path);
    if (path !== first && REFUSALS.includes(reply.status)) break;
    const page = readList(RECORDS.Animal, path, reply);
    const known = animals.size;
    for (const animal of page) animals.set(animal.record.id, animal);
    total = totalIn(reply);
    const query = nextQuery(reply);
    const isLast = page.length === 0 || (wasLinked && query === undefined);
    if (isLast || (total !== undefined && animals.size >= total)) return { animals, gaps: [] };
    // The deployment ignored the parameters of the next page.
    if (animals.size === known) break;
    count += page.length;
    isWhole = query === undefined && total === undefined && page.length < LIMIT.maximum;
    wasLinked = query !== undefined;
    path = query === undefined ? `${first}&offset=${count}` : `/pets${query}`;
  }
  if (isWhole) return { animals, gaps: [] };
  const missing = total === undefined ? 'others may be' : `${total - animals.size} are`;
  const gap = `animals: GET /pets lists ${animals.size} and has no next page; ${missing} missing`;
  return { animals, gaps: [gap] };
}

/** The number of animals on all pages, if the deployment shows it. */
function totalIn(reply: DeploymentReply): number | undefined {
  const total = headerOf(reply, 'x-total-count') ?? '';
  return /^\d{1,15}$/.test(total) ? Number(total) : undefined;
}
