import { INT64_MAX, INT64_MIN, parseInt64, toInt64 } from '../contract/int64.ts';
import { ref } from '../contract/openapi-schemas.ts';
import {
  type CollectionName,
  describe,
  type Fields,
  isObject,
  type Problem,
  type Reading,
  type RecordOf,
  readRecord,
  STORED_RECORDS,
} from '../contract/records.ts';
import type { Collection } from '../store/collection.ts';
import { ID_NAME, removeAnimal } from '../store/merge.ts';
import type { Store } from '../store/store.ts';
import { unknownProblems } from './checks.ts';
import {
  type ControlCall,
  type ControlReply,
  DONE,
  type Endpoint,
  type Parameter,
  refuse,
  refuseInput,
} from './endpoint.ts';
import { linkHeader, queryRecords } from './query.ts';
import { arrayText, recordText } from './record-text.ts';

type NotFound = 'pet_not_found' | 'inventory_entry_not_found' | 'order_not_found';

/** What is different between the three collections. */
interface Kind<F extends Fields> {
  readonly name: CollectionName;
  readonly fields: F;
  /** The record in the names of operations, and its schema. */
  readonly record: string;
  /** The record in words, with its article. */
  readonly noun: string;
  readonly notFound: NotFound;
  readonly of: (store: Store) => Collection<RecordOf<F>>;
  readonly remove: (store: Store, id: bigint) => boolean;
}

export const RECORD_ENDPOINTS: readonly Endpoint[] = [
  ...endpointsOf({
    name: 'animals',
    fields: STORED_RECORDS.animals,
    record: 'Animal',
    noun: 'an animal',
    notFound: 'pet_not_found',
    of: (store) => store.animals,
    remove: removeAnimal,
  }),
  ...endpointsOf({
    name: 'inventory',
    fields: STORED_RECORDS.inventory,
    record: 'InventoryEntry',
    noun: 'an inventory entry',
    notFound: 'inventory_entry_not_found',
    of: (store) => store.inventory,
    remove: (store, id) => store.inventory.delete(id),
  }),
  ...endpointsOf({
    name: 'orders',
    fields: STORED_RECORDS.orders,
    record: 'Order',
    noun: 'an order',
    notFound: 'order_not_found',
    of: (store) => store.orders,
    remove: (store, id) => store.orders.delete(id),
  }),
];

function endpointsOf<const F extends Fields>(kind: Kind<F>): readonly Endpoint[] {
  const { name, record, noun } = kind;
  const schema = ref('schemas', record);
  const missing = { description: 'There is no such record.', schema: ref('schemas', 'Error') };
  const conflict = { description: 'There is one with this id.', schema: ref('schemas', 'Error') };
  const exhausted = { description: 'No id is left.', schema: ref('schemas', 'Error') };
  const capital = name.charAt(0).toUpperCase() + name.slice(1);
  const common = { tag: 'Records', path: `/${name}` } as const;
  const one = { tag: 'Records', path: `/${name}/{id}` } as const;
  return [
    {
      ...common,
      id: `list${capital}`,
      method: 'get',
      summary: `The ${name}, by id`,
      description: 'Filtered, sorted and cut as json-server does it.',
      parameters: listParameters(kind.fields),
      replies: {
        200: {
          description: `The ${name}.`,
          schema: { type: 'array', items: schema },
          headers: {
            'X-Total-Count': 'How many there are without a page or a limit.',
            Link: 'With `_page`: the pages around this one.',
          },
        },
      },
      handle: (call) => list(kind, call),
    },
    {
      ...common,
      id: `create${record}`,
      method: 'post',
      summary: `Add ${noun}`,
      description:
        name === 'inventory'
          ? 'Checked as a fixture is.'
          : 'Checked as a fixture is. Without an id it gets the next one.',
      body: { schema: ref('schemas', `New${record}`) },
      replies: {
        201: { description: 'Added.', schema, headers: { Location: 'Where the record is.' } },
        409: conflict,
        ...(name === 'inventory' ? {} : { 507: exhausted }),
      },
      handle: (call) => create(kind, call),
    },
    {
      ...one,
      id: `get${record}`,
      method: 'get',
      summary: `One of the ${name}`,
      replies: { 200: { description: 'The record.', schema }, 404: missing },
      handle: (call) =>
        withId(call, (id) => {
          const found = kind.of(call.sandbox.world.store).get(id);
          return found === undefined ? notFound(kind, id) : recordReply(found);
        }),
    },
    {
      ...one,
      id: `put${record}`,
      method: 'put',
      summary: `Replace or add ${noun}`,
      body: { schema: ref('schemas', `New${record}`) },
      replies: {
        200: { description: 'Replaced.', schema },
        201: { description: 'Added.', schema },
      },
      handle: (call) => withId(call, (id) => put(kind, call, id)),
    },
    {
      ...one,
      id: `patch${record}`,
      method: 'patch',
      summary: `Change members of ${noun}`,
      description: 'Members that are left out stay; null takes an optional one away.',
      body: { schema: ref('schemas', `${record}Changes`) },
      replies: { 200: { description: 'Changed.', schema }, 404: missing },
      handle: (call) => withId(call, (id) => patch(kind, call, id)),
    },
    {
      ...one,
      id: `delete${record}`,
      method: 'delete',
      summary: `Take ${noun} out`,
      ...(name === 'animals' && {
        description: 'With an animal go its inventory entry and its orders.',
      }),
      replies: { 204: { description: 'Taken out.' }, 404: missing },
      handle: (call) =>
        withId(call, (id) =>
          kind.remove(call.sandbox.world.store, id) ? DONE : notFound(kind, id),
        ),
    },
  ];
}

function listParameters(fields: Fields): readonly Parameter[] {
  const text = { type: 'string' };
  const whole = { type: 'integer', minimum: 0 };
  return [
    ...Object.keys(fields).map((name) => ({
      name,
      description: `Records with this value. \`${name}_ne\`, \`${name}_gte\`, \`${name}_lte\` and \`${name}_like\` compare otherwise.`,
      schema: text,
    })),
    { name: 'q', description: 'Records with this text anywhere.', schema: text },
    { name: '_sort', description: 'Fields to sort by, separated by commas.', schema: text },
    { name: '_order', description: '`asc` or `desc`, for each field to sort by.', schema: text },
    { name: '_page', description: 'A page, counted from 1.', schema: { ...whole, minimum: 1 } },
    { name: '_limit', description: 'Records of a page, or at most.', schema: whole },
    { name: '_start', description: 'The first record, counted from 0.', schema: whole },
    { name: '_end', description: 'The first record behind the last.', schema: whole },
  ];
}

function list<F extends Fields>(kind: Kind<F>, { sandbox, query, mount, url }: ControlCall) {
  const collection = kind.of(sandbox.world.store);
  if (query.size === 0) {
    // The fork is what the collection was now, however long the client takes to read it.
    const headers = { 'X-Total-Count': String(collection.size) };
    return arrayReply(collection.fork().ascending(), headers);
  }
  const answer = queryRecords(kind.fields, collection, query);
  if (!answer.ok) return refuse('invalid_input', 400, answer.problems.join('; '));
  const headers: Record<string, string> = { 'X-Total-Count': String(answer.total) };
  const target = `${url.slice(0, -mount.length)}${mount}/${kind.name}?${query}`;
  const link = answer.pages && linkHeader(target, answer.pages);
  if (link !== undefined) headers.Link = link;
  return arrayReply(answer.records, headers);
}

function arrayReply(records: Iterable<object>, headers: Record<string, string>): ControlReply {
  return { status: 200, headers, body: { kind: 'pieces', pieces: arrayText(records) } };
}

function recordReply(record: object, status = 200, headers = {}): ControlReply {
  return { status, headers, body: { kind: 'pieces', pieces: [recordText(record)] } };
}

function create<const F extends Fields>(kind: Kind<F>, call: ControlCall): ControlReply {
  const { store } = call.sandbox.world;
  const collection = kind.of(store);
  const { body } = call;
  const member = ID_NAME[kind.name];
  const assigned = member === 'id' && isObject(body) && !Object.hasOwn(body, member);
  const next = (collection.highestId ?? 0n) + 1n;
  const reading = read(kind, store, assigned ? { id: next, ...body } : body);
  if (assigned && next > INT64_MAX) {
    return refuse('ids_exhausted', 507, `no id is above the highest ever used, ${next - 1n}`);
  }
  if (!reading.ok) return refuseInput(reading.problems);
  const id = idOf(kind, reading.value);
  if (collection.has(id)) {
    return refuse('already_exists', 409, `there is ${kind.noun} with the ${member} ${id}`);
  }
  collection.set(reading.value);
  return recordReply(reading.value, 201, { Location: `${call.mount}/${kind.name}/${id}` });
}

function put<const F extends Fields>(kind: Kind<F>, call: ControlCall, id: bigint): ControlReply {
  const { store } = call.sandbox.world;
  const { body } = call;
  const member = ID_NAME[kind.name];
  const moved = otherId(body, member, id);
  if (moved !== undefined) return refuseInput([moved]);
  const reading = read(kind, store, isObject(body) ? { ...body, [member]: id } : body);
  if (!reading.ok) return refuseInput(reading.problems);
  const collection = kind.of(store);
  const status = collection.has(id) ? 200 : 201;
  collection.set(reading.value);
  return recordReply(reading.value, status);
}

function patch<const F extends Fields>(kind: Kind<F>, call: ControlCall, id: bigint): ControlReply {
  const { store } = call.sandbox.world;
  const collection = kind.of(store);
  const before = collection.get(id);
  if (before === undefined) return notFound(kind, id);
  const { body } = call;
  if (!isObject(body)) {
    return refuseInput([{ path: '$', expected: 'an object', found: describe(body) }]);
  }
  const moved = otherId(body, ID_NAME[kind.name], id);
  if (moved !== undefined) return refuseInput([moved]);
  const merged = Object.entries({ ...before, ...body }).filter(([, value]) => value !== null);
  const unknown = unknownProblems(body, Object.keys(kind.fields));
  if (unknown.length > 0) return refuseInput(unknown);
  const reading = read(kind, store, Object.fromEntries(merged));
  if (!reading.ok) return refuseInput(reading.problems);
  collection.set(reading.value);
  return recordReply(reading.value);
}

/** What is wrong where a body gives a record another id than its path does. */
function otherId(body: unknown, member: string, id: bigint): Problem | undefined {
  if (!isObject(body) || !Object.hasOwn(body, member)) return undefined;
  if (toInt64(body[member]) === id) return undefined;
  const expected = `${id}, as in the path`;
  return { path: `$.${member}`, expected, found: describe(body[member]) };
}

/** Reads a whole record, and checks it as a fixture's is. */
function read<const F extends Fields>(
  { fields }: Pick<Kind<F>, 'fields'>,
  store: Store,
  value: unknown,
): Reading<RecordOf<F>> {
  const problems: Problem[] = [...unknownProblems(value, Object.keys(fields))];
  const reading = readRecord(fields, value);
  if (!reading.ok) problems.push(...reading.problems);
  const petId = isObject(value) && Object.hasOwn(value, 'petId') ? toInt64(value.petId) : undefined;
  if (petId !== undefined && Object.hasOwn(fields, 'petId') && !store.animals.has(petId)) {
    const found = `${petId}, which no animal has`;
    problems.push({ path: '$.petId', expected: 'the id of an animal', found });
  }
  return problems.length > 0 ? { ok: false, problems } : reading;
}

function idOf<F extends Fields>({ name }: Kind<F>, record: RecordOf<F>): bigint {
  const members: Readonly<Record<string, unknown>> = record;
  const id = toInt64(members[ID_NAME[name]]);
  if (id === undefined) throw new TypeError('A record has been read without its id.');
  return id;
}

function withId({ params }: ControlCall, handle: (id: bigint) => ControlReply): ControlReply {
  const text = params.id ?? '';
  const id = parseInt64(text);
  if (id !== undefined) return handle(id);
  const expected = `an integer from ${INT64_MIN} to ${INT64_MAX}`;
  return refuseInput([{ path: 'id in the path', expected, found: describe(text) }]);
}

function notFound<F extends Fields>(kind: Kind<F>, id: bigint): ControlReply {
  const { noun, name } = kind;
  return refuse(
    kind.notFound,
    404,
    `there is no ${noun.replace(/^an? /, '')} with the ${ID_NAME[name]} ${id}`,
  );
}
