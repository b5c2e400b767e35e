import { OPERATIONS } from '../../contract/operations.ts';
import { type Animal, RECORDS, SEEN_ANIMAL_STATUSES } from '../../contract/records.ts';
import { listed } from '../../words.ts';
import { DeploymentError, type DeploymentReply, headerOf } from '../deployment-client.ts';
import { readList, readOne, type ShownRecord, wrongRecords } from './read-records.ts';

/** Sends a GET to a path under the base URL. */
export type Get = (path: string) => Promise<DeploymentReply>;

const [LIMIT] = OPERATIONS.listPets.parameters;

/** A million animals. A deployment can link pages without end. */
const MOST_PAGES = 10_000;

/** Statuses for a filter, a parameter or an id that a deployment does not accept. */
const REFUSALS: readonly number[] = [400, 404, 410, 422];

/**
 * Finds the animals of a deployment: by pages, then by status, then by id. The document does not say
 * how to request the next page: this follows `Link`, and otherwise tries `offset`.
 */
export class AnimalSearch {
  /** By id. */
  readonly found = new Map<bigint, ShownRecord<Animal>>();
  readonly #get: Get;
  /** For each status to filter by, whether all of its animals were listed; undefined before. */
  readonly #statuses = new Map<string, boolean | undefined>(
    SEEN_ANIMAL_STATUSES.map((status) => [status, undefined]),
  );
  /** Animals on the longest page. */
  #longest = 0;
  #total: number | undefined;

  constructor(get: Get) {
    this.#get = get;
  }

  /**
   * @param named ids of animals that other records name
   * @returns what may be missing
   */
  async run(named: ReadonlySet<bigint>): Promise<string[]> {
    const unlisted = () => [...named].filter((id) => !this.found.has(id));
    const ended = await this.#list();
    const byPage = this.found.size;
    if (ended && unlisted().length === 0) return [];
    await this.#filter();
    const byStatus = this.found.size - byPage;
    for (const id of unlisted()) if (!(await this.#readOne(id))) break;
    await this.#filter();
    const byId = this.found.size - byPage - byStatus;
    const total = this.#total;
    const isWhole = total === undefined ? ended && byStatus + byId === 0 : this.found.size >= total;
    if (isWhole) return [];
    return [
      `animals: GET /pets lists ${byPage} and has no next page; ${byStatus} more were found by status and ${byId} by id; ${this.#missing()}`,
    ];
  }

  #missing(): string {
    if (this.#total !== undefined) return `${this.#total - this.found.size} are missing`;
    const whole = [...this.#statuses].filter(([, isWhole]) => isWhole).map(([status]) => status);
    const except = whole.length === 0 ? '' : `, but none with status ${listed(whole, 'or')}`;
    return `others may be missing${except}`;
  }

  /** Lists the animals of each status that was not listed yet. This can reveal more statuses. */
  async #filter(): Promise<void> {
    for (const [status, isWhole] of this.#statuses) {
      if (isWhole === undefined) this.#statuses.set(status, await this.#list(status));
    }
  }

  /** Lists animals page by page. Returns whether the list came to its end. */
  async #list(status?: string): Promise<boolean> {
    const filter = status === undefined ? '' : `&status=${encodeURIComponent(status)}`;
    const first = `/pets?limit=${LIMIT.maximum}${filter}`;
    // A filter is used only where a page is known to be full, perhaps by a lower limit.
    const full = filter === '' ? LIMIT.maximum : this.#longest;
    const seen = new Set<bigint>();
    let [path, count, ended, wasLinked] = [first, 0, false, false];
    for (let pages = 0; ; pages += 1) {
      if (pages === MOST_PAGES)
        throw new DeploymentError(`GET ${path}: no end after ${pages} pages`);
      const reply = await this.#get(path);
      const isGuess = filter !== '' || path !== first;
      if (isGuess && REFUSALS.includes(reply.status)) return ended;
      const page = readList(RECORDS.Animal, path, reply);
      const known = seen.size;
      for (const animal of page) {
        seen.add(animal.record.id);
        this.#add(animal);
      }
      const total = totalIn(reply);
      if (filter === '') this.#total = total;
      const query = nextQuery(reply);
      const isLinked = query !== undefined;
      const isLast = page.length === 0 || (wasLinked && !isLinked);
      if (isLast || (total !== undefined && seen.size >= total)) return true;
      // The deployment ignored the parameters of the next page.
      if (seen.size === known) return ended;
      count += page.length;
      this.#longest = Math.max(this.#longest, page.length);
      ended = !isLinked && total === undefined && page.length < full;
      wasLinked = isLinked;
      path = isLinked ? `/pets${query}` : `${first}&offset=${count}`;
    }
  }

  /** Reads one animal. Returns whether the deployment reads animals at all. */
  async #readOne(id: bigint): Promise<boolean> {
    const path = `/pets/${id}`;
    const reply = await this.#get(path);
    if (REFUSALS.includes(reply.status)) return reply.status !== 410;
    const animal = readOne(RECORDS.Animal, path, reply);
    const found = animal.record.id;
    if (found !== id) {
      throw wrongRecords(path, [{ path: '$.id', expected: `${id}`, found: `${found}` }]);
    }
    this.#add(animal);
    return true;
  }

  #add(animal: ShownRecord<Animal>): void {
    const { id, status } = animal.record;
    this.found.set(id, animal);
    if (status !== undefined && !this.#statuses.has(status)) this.#statuses.set(status, undefined);
  }
}

/** The query of the link to the next page (RFC 8288). Behind a proxy, its host may be another. */
function nextQuery(reply: DeploymentReply): string | undefined {
  const link = headerOf(reply, 'link') ?? '';
  const [, target] = /<([^>]*)>\s*;[^,<]*\brel="?(?:[^",;]* )?next\b/i.exec(link) ?? [];
  return target?.replace(/^[^?]*|#.*$/g, '');
}

/** The number of animals on all pages, if the deployment shows it. */
function totalIn(reply: DeploymentReply): number | undefined {
  const total = headerOf(reply, 'x-total-count') ?? '';
  return /^\d{1,15}$/.test(total) ? Number(total) : undefined;
}
