import { OPERATIONS } from '../../../core/contract/operations.ts';
import { RECORDS } from '../../../core/contract/records.ts';
import { isObject, tryParseJson } from '../../../core/json.ts';
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
import {
  bodyForm,
  compareFields,
  countRecords,
  describeNext,
  describeOrder,
  headerFacets,
  listDateForms,
  spelling,
  uniqueness,
  valueless,
} from './forms.ts';
import { type Probe, SENT_ID } from './probes.ts';

/** What a reply shows, by names in words: `status`, `order`, `entry NEW`. */
export type Facets = Readonly<Record<string, string>>;

/** The lists of a deployment at the start of a round. */
export interface Lists {
  /** Whether all of them could be read. Otherwise no other list shows anything. */
  readonly isWhole: boolean;
  readonly animalIds: readonly bigint[];
  readonly animals: readonly ReplyRecord[];
  readonly inventory: readonly ReplyRecord[];
  readonly orders: readonly ReplyRecord[];
}

/** Animals without an id cannot be told apart. */
export function createLists(found: readonly (readonly ReplyRecord[] | undefined)[]): Lists {
  const [animals = [], inventory = [], orders = []] = found;
  const known = animals.filter((animal) => readId(animal) !== undefined);
  const isWhole = found.every((list) => list !== undefined);
  return { isWhole, animals: known, animalIds: readIds(known), inventory, orders };
}

const MAX_PAGE = 100;

/** Ids that are so far apart are drawn, not counted. */
const DRAWN_GAP = 1_000_000n;

const LARGEST_DOUBLE = 2n ** 53n;

/** One telling of a story: what its words in capitals stand for, and what its replies have shown. */
export class Scene {
  readonly lists: Lists;
  readonly words: Map<string, string>;
  readonly #created = new Map<bigint, ReplyRecord>();
  readonly #before: readonly bigint[];
  #firstOfPage: bigint | undefined;
  /** The last id that was assigned, if it is known. */
  #lastId: bigint | undefined;

  /** @param before the order of the animals so far; a mock has its own */
  constructor(
    lists: Lists,
    words: ReadonlyMap<string, string>,
    lastId: bigint | undefined,
    before: readonly bigint[] = [],
  ) {
    this.lists = lists;
    this.words = new Map(words);
    this.#lastId = lastId;
    this.#before = before;
  }

  get lastId(): bigint | undefined {
    return this.#lastId;
  }

  /** Undefined if nothing stands for a word in it. */
  fill(path: string): string | undefined {
    let isWhole = true;
    const filled = path.replaceAll(/[A-Z]{3,}/g, (word) => {
      const value = this.words.get(word);
      if (value === undefined) isWhole = false;
      return value ?? word;
    });
    return isWhole ? filled : undefined;
  }

  idOf(word: string): bigint | undefined {
    return readId({ id: this.words.get(word) });
  }

  /** Reads what a reply shows, and remembers what later probes of the story need. */
  read(probe: Probe, reply: DeploymentReply): Facets {
    const { status, body } = reply;
    const json = parseBody(body);
    const facets: Record<string, string | undefined> = {
      status: `${status}`,
      body: bodyForm(reply, json),
      ...headerFacets(probe, reply),
    };
    if (status >= 400 && isObject(json)) facets.code = spelling(json.code);
    else if (Array.isArray(json) && this.lists.isWhole) {
      Object.assign(facets, this.#readList(probe, reply, json.filter(isObject)));
    } else if (isObject(json)) Object.assign(facets, this.#readRecord(probe, json));
    const shown = Object.entries(facets).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    return Object.fromEntries(shown);
  }

  #readList(probe: Probe, reply: DeploymentReply, records: readonly ReplyRecord[]) {
    const { operation, path } = probe;
    if (operation === 'listPets') return this.#readAnimals(path, reply, records);
    if (operation === 'listInventory') {
      const words = ['NEW', 'STOCK', 'PET'].filter((word) => this.idOf(word) !== undefined);
      const entries = words.map((word) => {
        const { quantity, status } = findById(records, this.idOf(word), 'petId') ?? {};
        return [`entry of ${word}`, quantity === undefined ? 'none' : `${quantity}, ${status}`];
      });
      return { ids: uniqueness(readIds(records, 'petId')), ...Object.fromEntries(entries) };
    }
    const cancelled = this.idOf('CANCEL');
    const order = findById(records, cancelled);
    return {
      ids: uniqueness(readIds(records)),
      ...(path.endsWith('limit=1') &&
        this.lists.orders.length > 2 && { count: records.length === 1 ? '1' : 'all' }),
      // Of an order that other clients write, too, only the form tells something.
      ...(records.length > 0 && {
        'status of orders': records.some((each) => each.status !== undefined) ? 'shown' : 'hidden',
      }),
      dates: listDateForms(records),
      ...valueless(records, RECORDS.Order),
      ...(cancelled !== undefined && { 'cancelled order': order ? 'listed' : 'not listed' }),
    };
  }

  #readAnimals(path: string, reply: DeploymentReply, records: readonly ReplyRecord[]) {
    const ids = readIds(records);
    const query = findNextQuery(reply);
    const isPage = /limit=1$|NEXT|offset/.test(path);
    const [, filter] = /status=(\w+)$/.exec(path) ?? [];
    const [first] = ids;
    const facets = {
      ids: uniqueness(ids),
      ...(filter === undefined
        ? {
            count: /NEXT|offset/.test(path) ? undefined : countRecords(records, this.lists.animals),
          }
        : { statuses: [...new Set(records.map((each) => String(each.status)))].sort().join(', ') }),
      // What follows the animals that are known is not.
      next:
        records.length >= MAX_PAGE ? undefined : query === undefined ? 'none' : describeNext(query),
      total: findHeader(reply.headers, 'x-total-count') === undefined ? 'none' : 'sent',
      order: describeOrder(records, ids, this.#before),
      first: this.#compareFirst(first),
      // Which animals a short page has depends on their order.
      ...(/limit=\d$|NEXT|offset/.test(path) ? {} : valueless(records, RECORDS.Animal)),
    };
    if (path.endsWith('limit=1')) {
      this.#firstOfPage = first;
      if (query !== undefined) this.words.set('NEXT', query);
    }
    return isPage ? facets : { ...facets, first: undefined };
  }

  #find(id: bigint): ReplyRecord | undefined {
    return this.#created.get(id) ?? this.lists.animals[this.lists.animalIds.indexOf(id)];
  }

  /** An animal that was not listed can be new. */
  #compareFirst(id: bigint | undefined): string | undefined {
    const before = this.#firstOfPage;
    if (before === undefined || id === undefined || this.#find(id) === undefined) return undefined;
    return id === before ? 'the same' : 'another';
  }

  #readRecord(probe: Probe, record: ReplyRecord): Record<string, string | undefined> {
    const { operation, path, body } = probe;
    const status = String(record.status ?? 'absent');
    if (operation === 'updateInventory') {
      const isAddressed = `/inventory/${readId(record, 'petId')}` === this.fill(path);
      return {
        petId: isAddressed ? 'as addressed' : String(record.petId),
        quantity: String(record.quantity),
        'status of entry': status,
      };
    }
    const id = readId(record);
    if (operation === 'createPet') {
      const sent = tryParseJson(body ?? '');
      const fields = isObject(sent) ? sent : {};
      const assigned = this.#describeId(id);
      if (id !== undefined) {
        this.#lastId = id;
        this.words.set('NEW', `${id}`);
        this.#created.set(id, fields);
      }
      return {
        id: assigned,
        fields: compareFields(record, fields, Object.keys(OPERATIONS.createPet.body.shape.members)),
        ...(fields.status === undefined && { 'status of animal': status }),
        ...valueless([record], RECORDS.Animal),
      };
    }
    if (operation !== 'getPet') return {};
    const known = id === undefined ? undefined : this.#find(id);
    return {
      fields: compareFields(record, known ?? {}, ['name', 'categoryId']),
      // Other clients can move the status of older animals.
      ...(path.endsWith('LISTED') ? {} : { 'status of animal': status }),
      ...valueless([record], RECORDS.Animal),
    };
  }

  /** Undefined for an id with a gap before it, which another client may have got. */
  #describeId(id: bigint | undefined): string | undefined {
    if (id === SENT_ID) return 'as sent';
    if (id === undefined || this.#lastId === undefined) return undefined;
    const gap = id - this.#lastId;
    if (gap === 1n) return 'the next';
    return id > LARGEST_DOUBLE && (gap > DRAWN_GAP || gap < -DRAWN_GAP) ? 'beyond 2^53' : undefined;
  }
}
