import { OPERATIONS } from '../contract/operations.ts';
import { describe } from '../words.ts';
import type { CheckTranscript, DocumentRule, ProbeReply } from './check-transcript.ts';
import { cancelled } from './probes/order-probes.ts';
import { idIn, idsOf, isDouble, type JsonRecord, withId } from './record-ids.ts';
import type { Deviation } from './reply-differences.ts';

const [LIMIT] = OPERATIONS.listPets.parameters;

const KEPT: readonly Deviation[] = [];

function wrong(at: string, expected: string, found: string): Deviation[] {
  return [{ where: 'value', at, expected, found }];
}

/** The fields of a record that differ from another one. */
function unlike(
  found: JsonRecord | undefined,
  expected: JsonRecord | undefined,
  fields = Object.keys(expected ?? {}),
  at = '$',
): readonly Deviation[] {
  if (found === undefined) return KEPT;
  return fields
    .filter((field) => String(found[field] ?? '') !== String(expected?.[field] ?? ''))
    .flatMap((field) =>
      wrong(`${at}.${field}`, describe(expected?.[field]), describe(found[field])),
    );
}

/** A list has as many animals as the limit lets through. */
export const pageLength: DocumentRule = ({ request, records }, check) => {
  const known = check.list('pets100');
  if (records === undefined || known === undefined) return KEPT;
  const limit = Number(/limit=(\d+)/.exec(request.path)?.[1] ?? LIMIT.default);
  const wanted = Math.min(limit, Math.max(known.length, records.length));
  return records.length === wanted
    ? KEPT
    : wrong('$', `${wanted} animals with limit ${limit}`, `${records.length}`);
};

/** A short list has every animal, also one that only the inventory names. */
export const listsEvery: DocumentRule = ({ status, record }, check) =>
  status === 200
    ? wrong('$', `animal ${idIn(record)} with limit 100`, `${check.list('pets100')?.length} others`)
    : KEPT;

/** A filter by status lists the animals that have it, and no others. */
export function filtersBy(status: string): DocumentRule {
  return ({ records }, check) => {
    if (records === undefined) return KEPT;
    const other = records.find((animal) => animal.status !== status);
    if (other !== undefined) return wrong('$[].status', `only ${status}`, describe(other.status));
    const all = check.list('pets100') ?? [];
    const missing = all.find((it) => it.status === status && !withId(records, idIn(it)));
    return missing === undefined
      ? KEPT
      : wrong('$', `animal ${idIn(missing)}, which is ${status}`, 'nothing');
  };
}

/** No two records of a list have the same id. */
export function uniqueIds(field: string): DocumentRule {
  return ({ records }) => {
    const ids = idsOf(records, field);
    const twice = ids.find((id, at) => ids.indexOf(id) !== at);
    return twice === undefined ? KEPT : wrong(`$[].${field}`, 'each once', `${twice} twice`);
  };
}

/** An animal is as the list shows it, but for its status, which can change. */
export const asListed: DocumentRule = ({ request, record }, check) => {
  const id = BigInt(/\d+$/.exec(request.path)?.[0] ?? 0);
  const listed = withId(check.list('pets100'), id);
  return listed === undefined
    ? KEPT
    : unlike(record, listed, Object.keys({ ...listed, status: undefined }));
};

/** A created animal has the members that were sent and those of the reply to it. */
export const asCreated: DocumentRule = ({ record }, check) => {
  const { id, status } = check.record('create') ?? {};
  return unlike(record, { id, status, ...check.get('create')?.sent });
};

/** The sunset is on the day of the document. */
export const sunsetDay: DocumentRule = (reply) => {
  const day = OPERATIONS.getPet.sunset;
  const found = reply.header('sunset');
  const time = Date.parse(found ?? '');
  const isDay = !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
  return found === undefined || isDay
    ? KEPT
    : [
        {
          where: 'header',
          at: 'Sunset',
          expected: new Date(day).toUTCString(),
          found: describe(found),
        },
      ];
};

/** The reply to a creation has what was sent. */
export const asSent: DocumentRule = ({ record, sent }) =>
  unlike(
    record,
    sent,
    ['name', 'categoryId', 'status'].filter((field) => Object.hasOwn(sent, field)),
  );

/** The id of a created animal is the one that the list has, to the last digit. */
export const idAsListed: DocumentRule = ({ record }, check) => {
  const id = idIn(record);
  const exact = check.roundedTwin('petsAgain', id);
  return exact !== undefined && !isDouble(exact)
    ? wrong('$.id', `${exact}, as GET /pets lists it`, `${id}`)
    : KEPT;
};

/** A list has the ids of created animals to the last digit. */
export function exactIds(list: 'petsAgain' | 'inventoryCreated', field: string): DocumentRule {
  return (_, check) =>
    check.createdIds.flatMap((id) => {
      const found = check.roundedTwin(list, id);
      return found === undefined || isDouble(id)
        ? KEPT
        : wrong(`$[].${field}`, `${id}`, `${found}`);
    });
}

/** The list has a created animal, unless it may be on another page. */
export const listsCreated: DocumentRule = ({ records }, check) => {
  const id = check.id('created');
  if (id === undefined || records === undefined || records.length >= LIMIT.maximum) return KEPT;
  return withId(records, id) === undefined && check.roundedTwin('petsAgain', id) === undefined
    ? wrong('$', `animal ${id}, which was created`, 'nothing')
    : KEPT;
};

/** A body without a required field, or with one of another type, is not accepted. */
export function refuses(at: string): DocumentRule {
  return ({ accepted, status, definition }) => {
    const found = `${status} for ${definition.why}`;
    return accepted ? [{ where: 'field', at, expected: 'a refusal', found }] : KEPT;
  };
}

/** The entry is that of the animal and has the quantity that was sent. */
export const asStocked: DocumentRule = ({ record, sent }, check) =>
  unlike(record, { petId: check.id('createPending'), ...sent });

/** The inventory keeps the quantity that was set last. */
export const keepsStock: DocumentRule = ({ records }, check) => {
  if (!check.accepted('stock3') || records === undefined) return KEPT;
  const petId = check.id('createPending');
  const found = withId(records, petId, 'petId');
  return found === undefined
    ? wrong('$', `an entry for animal ${petId}`, 'nothing')
    : unlike(found, check.get('stock3')?.sent, ['quantity'], '$[]');
};

/** Orders have no pages. */
export const hasNoPages: DocumentRule = ({ records }, check) => {
  const all = check.list('orders');
  return records === undefined || all === undefined || records.length === all.length
    ? KEPT
    : wrong('$', `all ${all.length} orders`, `${records.length}`);
};

/** The list has every order that the deployment has shown to exist. */
export const listsOrders: DocumentRule = ({ records }, check) =>
  records === undefined
    ? KEPT
    : shownOrders(check)
        .filter(({ order }) => withId(records, order) === undefined)
        .flatMap(({ order }) => wrong('$', `order ${order}`, 'nothing'));

/** Replies that show that an order exists, though the deployment may list no cancelled ones. */
function shownOrders(check: CheckTranscript): readonly ProbeReply[] {
  const isFirst = check.status('cancelAgain') !== 204;
  const refused = check.all('cancelShipped').filter(({ status }) => status === 409);
  return [...refused, ...(isFirst ? cancelled(check) : [])];
}

/** Orders name their animals to the last digit. */
export const exactPetIds: DocumentRule = ({ records }, check) => {
  const pets = idsOf(check.list('pets100'));
  const named = idsOf(records, 'petId');
  if (pets.length >= LIMIT.maximum || !named.every(isDouble)) return KEPT;
  const rounded = (id: bigint) => BigInt(Number(id));
  const id = pets.find((it) => named.includes(rounded(it)) && !pets.includes(rounded(it)));
  return id === undefined ? KEPT : wrong('$[].petId', `${id}`, `${rounded(id)}`);
};

/** A cancelled order does not keep its status. */
export const changesStatus: DocumentRule = ({ accepted, order }, check) => {
  const [before, after] = [check.list('orders'), check.list('ordersCancelled')].map(
    (list) => withId(list, order)?.status,
  );
  return accepted && after !== undefined && after === before && after !== 'cancelled'
    ? wrong('$', `order ${order} cancelled`, `its status ${describe(after)} as before`)
    : KEPT;
};
