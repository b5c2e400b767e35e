import { checkBody, type Deviation } from '../../../core/contract/check-reply.ts';
import { OPERATIONS, type OperationId } from '../../../core/contract/operations.ts';
import { SEEN_ANIMAL_STATUSES } from '../../../core/contract/records.ts';
import { findHeader } from '../../../core/raw-http.ts';
import { describe } from '../../../core/words.ts';
import { findById, findNextQuery, type ReplyRecord, UNKNOWN_WORD } from '../deployment-reply.ts';
import { readRecords } from './facets.ts';
import { describeExchange, type ProbeExchange } from './probe-sender.ts';
import type { CheckedStory } from './run.ts';
import type { Scene } from './scene.ts';

export interface ReplyDifference extends Deviation {
  readonly operation: OperationId;
  readonly status: number;
  /** In words to repeat with curl. */
  readonly exchange: string;
}

/** A reply that accepts its request, and what else was seen. */
interface Accepted extends ProbeExchange {
  readonly records: readonly ReplyRecord[];
  readonly ids: readonly bigint[];
  readonly query: URLSearchParams;
  readonly scene: Scene;
  /** All scenes of its round. */
  readonly round: readonly Scene[];
  /** The same in each round. */
  readonly scenes: readonly Scene[];
}

/** What the document says of an operation, and what is seen instead. */
type Promised = readonly [on: OperationId, says: string, see: (it: Accepted) => string | undefined];

/** Besides the status and the shape of the body. A created animal is `NEW` in its scene. */
// biome-ignore format: a row for each
const PROMISES: readonly Promised[] = [
  ['listPets', 'at most `limit` animals, by default 20', (it) => when(it.records.length > limitOf(it), 'more')],
  ['listPets', '`limit` animals where there are as many', (it) => when(isShort(it), `${it.ids.length}`)],
  ['listPets', 'only animals of the status', seeOtherStatus],
  ['listPets', 'every animal of the status', seeLeftOut],
  ['listPets', 'the animal that was created', seeUnlisted],
  ['listPets', 'each animal once', seeTwice],
  ['listInventory', 'each entry once', seeTwice],
  ['listInventory', 'the quantity that was set', seeLostStock],
  ['listOrders', 'each order once', seeTwice],
  ['listOrders', 'all orders, whatever the limit', ({ query, ids, scene }) =>
    when(query.has('limit') && ids.length === 1 && scene.world.lists.orders.length > 2, 'one')],
  ['getPet', 'what was listed or sent', seeOtherAnimal],
  ['getPet', `Sunset on ${OPERATIONS.getPet.sunset}`, seeOtherSunset],
  ['createPet', 'what was sent', ({ records, probe }) => seeChanged(records[0], probe.sent)],
  ['updateInventory', 'what was sent', ({ records, probe }) => seeChanged(records[0], probe.sent)],
  ['updateInventory', 'the entry of the path', ({ path, ids }) => when(!path.endsWith(`/${ids[0]}`), `petId ${ids[0]}`)],
];

function when(isBroken: boolean, found: string): string | undefined {
  return isBroken ? found : undefined;
}

/** How replies break the document in both rounds, apart from their status. */
export function listBroken(stories: readonly CheckedStory[]): ReplyDifference[] {
  return stories.flatMap(({ story, scenes }) =>
    story.probes.flatMap(({ operation }, at) => {
      const [first] = scenes.flatMap(({ exchanges }) => exchanges[at] ?? []);
      if (operation === undefined || first === undefined) return [];
      const [once = [], again = []] = scenes.map((scene, index) => {
        const round = stories.flatMap((other) => other.scenes[index] ?? []);
        const exchange = scene.exchanges[at];
        return exchange === undefined ? [] : listDeviations(exchange, { scene, scenes, round });
      });
      const { status } = first.reply;
      const exchange = describeExchange(first);
      return once.flatMap(({ key, ...deviation }) =>
        again.some((other) => other.key === key)
          ? [{ ...deviation, operation, status, exchange }]
          : [],
      );
    }),
  );
}

function listDeviations(
  exchange: ProbeExchange,
  seen: Pick<Accepted, 'scene' | 'scenes' | 'round'>,
): (Deviation & { readonly key: string })[] {
  const { probe, path, reply } = exchange;
  const { operation } = probe;
  const { json, records, ids, isRead } = readRecords(probe, reply);
  if (operation === undefined) return [];
  // A check sends the unknown word itself.
  const isOwn = ({ where, found }: Deviation) =>
    where === 'new value' && found === describe(UNKNOWN_WORD);
  const differences = checkBody({ ...reply, json }, operation).flatMap((difference) =>
    isOwn(difference) ? [] : { ...difference, key: `${difference.where} ${difference.at}` },
  );
  // Nothing is promised of what should have been refused.
  if (!isRead || probe.key !== undefined || probe.isWrong === true) return differences;
  const query = new URLSearchParams(path.replace(/^[^?]*/, ''));
  const broken = PROMISES.flatMap(([on, expected, see]) => {
    const found = on === operation ? see({ ...exchange, ...seen, records, ids, query }) : undefined;
    if (found === undefined) return [];
    // Each round has an animal of its own.
    const key = found.replaceAll(RegExp(`\\b${seen.scene.idOf('NEW')}\\b`, 'g'), 'NEW');
    return [{ where: 'value', expected, found, key } as const];
  });
  return [...differences, ...broken];
}

/** NaN for one that is no documented limit. */
function limitOf({ query }: Accepted): number {
  const limit = Number(query.get('limit') ?? 20);
  return limit >= 1 && limit <= 100 ? limit : Number.NaN;
}

/** Whether a list leads to no other page, and is of this time. */
function isLast({ reply, ids }: Accepted): boolean {
  const [total = ids.length, age = 0] = ['x-total-count', 'age'].map((name) =>
    findHeader(reply.headers, name),
  );
  return findNextQuery(reply) === undefined && Number(total) <= ids.length && Number(age) === 0;
}

function isShort(it: Accepted): boolean {
  const { query, ids, scene, probe } = it;
  const isFirst = !query.has('status') && !/NEXT|offset/.test(probe.path);
  const isMore = scene.world.lists.animals.size >= limitOf(it);
  return isFirst && isMore && ids.length < limitOf(it) && isLast(it);
}

function filterOf(query: URLSearchParams): string | undefined {
  return SEEN_ANIMAL_STATUSES.find((status) => status === query.get('status'));
}

function seeOtherStatus({ query, records }: Accepted) {
  const wanted = filterOf(query);
  const other = wanted && records.find(({ status }) => status !== wanted);
  return other && `status ${other.status}`;
}

/** Nothing where another client can have moved the animal. */
function seeLeftOut(it: Accepted) {
  const { query, ids, scene, scenes, round } = it;
  const wanted = filterOf(query);
  if (wanted === undefined || ids.length >= limitOf(it) || !isLast(it)) return undefined;
  const [before, after] = scenes.map(({ world }) => world.lists.animals);
  const known = [...(before ?? [])].filter(([id]) => after?.has(id) && id !== scene.idOf('STOCK'));
  if (known.some(([id, { status }]) => after?.get(id)?.status !== status)) return undefined;
  const found = round
    .flatMap(({ exchanges }) => exchanges.flatMap((exchange) => exchange ?? []))
    .filter(({ path }) => SEEN_ANIMAL_STATUSES.some((status) => path.endsWith(`=${status}`)))
    .flatMap(({ probe, reply }) => readRecords(probe, reply).ids);
  const missing = known.find(([id, { status }]) => status === wanted && !found.includes(id));
  return missing && `none with id ${missing[0]}`;
}

/** Nothing where the list shows what an earlier round created: it may be behind. */
function seeUnlisted(it: Accepted) {
  const { ids, query, scene, scenes } = it;
  const id = scene.idOf('NEW');
  const isWhole = query.size === 1 && ids.length < limitOf(it) && isLast(it);
  const isShown = scene.exchanges.some((each) => {
    return each?.path === `/pets/${id}` && each.reply.status === 200;
  });
  const isListed = scenes.some((each) => ids.includes(each.idOf('NEW') ?? -1n));
  const isMissing = id !== undefined && isWhole && isShown && !isListed;
  return isMissing ? `none with id ${id}, which GET /pets/${id} shows` : undefined;
}

function seeTwice({ ids }: Accepted) {
  return new Set(ids).size < ids.length ? 'one twice' : undefined;
}

/** Only in a list that has the entry of an animal that was created later: it is not behind. */
function seeLostStock({ ids, records, scene, round }: Accepted) {
  const id = scene.idOf('NEW');
  const last = scene.story.probes.findLastIndex(({ method }) => method === 'PATCH');
  const { probe, reply } = scene.exchanges[last] ?? {};
  const later = round.slice(round.indexOf(scene) + 1);
  const isNewer = later.some((other) => ids.includes(other.idOf('NEW') ?? -1n));
  if (id === undefined || reply?.status !== 200 || !isNewer) return undefined;
  const set = probe?.sent.quantity;
  const { quantity = 'none' } = findById(records, id, 'petId') ?? {};
  return String(quantity) === String(set)
    ? undefined
    : `${quantity} for petId ${id} after PATCH /inventory/${id} {"quantity":${set}}`;
}

function seeOtherAnimal({ records, ids: [id = -1n], scene }: Accepted) {
  const created = scene.exchanges.find((it) => it?.probe.operation === 'createPet');
  const known = id === scene.idOf('NEW') ? created?.probe.sent : scene.world.lists.animals.get(id);
  // Anybody can move the status.
  return seeChanged(records[0], { ...known, status: undefined });
}

function seeOtherSunset({ reply }: Accepted) {
  const sunset = Date.parse(findHeader(reply.headers, 'sunset') ?? '');
  if (Number.isNaN(sunset)) return undefined;
  const day = new Date(sunset).toISOString().slice(0, 10);
  return day === OPERATIONS.getPet.sunset ? undefined : day;
}

const SENT = ['name', 'categoryId', 'status', 'quantity'];

function seeChanged(found: ReplyRecord = {}, known: ReplyRecord): string | undefined {
  const other = SENT.find(
    (name) => known[name] != null && String(known[name]) !== String(found[name]),
  );
  return other && `${other} ${String(found[other])}`;
}
