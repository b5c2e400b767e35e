import {
  type AnyRecord,
  type CollectionName,
  type RecordJson,
  STORED_RECORDS,
  type StoredMembers,
} from '../../contract/records.ts';
import { INT64_MAX, INT64_MIN, type Json, parseInt64 } from '../../json.ts';
import { type Outcome, outcome } from '../../sandbox/answer.ts';
import type { State } from '../../sandbox/state.ts';
import type { ObjectMembers } from '../../shape/objects.ts';
import {
  applyRecordChanges,
  changesOf,
  partOf,
  type RecordChanges,
} from '../../shape/record-shapes.ts';
import { list, named, readWith, type Shape } from '../../shape/shapes.ts';
import { reportMissingAnimal, withoutAnimals } from '../../store/merge.ts';
import { ID_NAME } from '../../store/store.ts';
import { recordText } from '../../store/store-text.ts';
import { describe } from '../../words.ts';
import {
  type ControlCall,
  type Endpoint,
  type EndpointTypes,
  edit,
  endpoint,
} from '../endpoint.ts';
import { type ControlReply, NO_CONTENT, refuse, refuseInput } from '../reply.ts';
import {
  createListQuery,
  createListReply,
  LIST_HEADERS,
  type RecordQuery,
  selectPage,
} from './query.ts';

interface RecordKind<Name extends CollectionName = CollectionName> {
  readonly name: Name;
  /** Names its schema and its operations. */
  readonly record: string;
  readonly noun: string;
  readonly notFound: 'pet_not_found' | 'inventory_entry_not_found' | 'order_not_found';
  readonly example: { readonly id: number; readonly record: Json & object; readonly change: Json };
}

/** Without a name, the published types would spell out each record at each of its endpoints. */
export type RecordEndpoint =
  | Endpoint<RecordTypes<'animals'>>
  | Endpoint<RecordTypes<'inventory'>>
  | Endpoint<RecordTypes<'orders'>>;

export const RECORD_ENDPOINTS: readonly RecordEndpoint[] = [
  ...createRecordEndpoints({
    name: 'animals',
    record: 'Animal',
    noun: 'an animal',
    notFound: 'pet_not_found',
    example: {
      id: 3,
      record: { name: 'Polly', categoryId: 3, status: 'available' },
      change: { status: 'sold' },
    },
  }),
  ...createRecordEndpoints({
    name: 'inventory',
    record: 'InventoryEntry',
    noun: 'an inventory entry',
    notFound: 'inventory_entry_not_found',
    example: { id: 2, record: { quantity: 12, status: 'available' }, change: { quantity: 0 } },
  }),
  ...createRecordEndpoints({
    name: 'orders',
    record: 'Order',
    noun: 'an order',
    notFound: 'order_not_found',
    example: {
      id: 4,
      record: { petId: 1, quantity: 2, shipDate: '2031-01-15T09:30:00Z', complete: false },
      change: { status: 'shipped' },
    },
  }),
];

type IdOf<Name extends CollectionName> = (typeof ID_NAME)[Name];

/** The id is assigned, or in the path. */
type WithoutId<R, Id extends PropertyKey> = Omit<R, Id> & {
  readonly [Name in Extract<Id, keyof R>]?: R[Name] | undefined;
};

/** What the compiler cannot see of the endpoints of a collection. */
type RecordTypes<
  Name extends CollectionName,
  R = RecordJson[Name],
  New = WithoutId<R, IdOf<Name>>,
> =
  | EndpointTypes<`GET /${Name}`, undefined, RecordQuery<R>, readonly R[]>
  | EndpointTypes<`POST /${Name}`, Name extends 'inventory' ? R : New, undefined, R>
  | EndpointTypes<`GET /${Name}/{id}`, undefined, undefined, R>
  | EndpointTypes<`PUT /${Name}/{id}`, New, undefined, R>
  | EndpointTypes<`PATCH /${Name}/{id}`, RecordChanges<StoredMembers[Name]>, undefined, R>
  | EndpointTypes<`DELETE /${Name}/{id}`, undefined, undefined, undefined>;

function createRecordEndpoints<Name extends CollectionName>(
  kind: RecordKind<Name>,
): readonly Endpoint<RecordTypes<Name>>[];
function createRecordEndpoints(kind: RecordKind): readonly Endpoint[] {
  const { name, record, noun, example } = kind;
  const idName = ID_NAME[name];
  const stored: Shape<AnyRecord> & { readonly members: ObjectMembers } = STORED_RECORDS[name];
  const { members } = stored;
  const shape = named(record, stored);
  // The path has the id, or the store assigns one.
  const required = Object.keys(members).filter(
    (member) => members[member]?.required && member !== idName,
  );
  const unaddressed = named(`New${record}`, partOf(members, required));
  const assignsId = name !== 'inventory';
  const missing = 'The record does not exist.';
  const [all, one] = [`/${name}`, `/${name}/{id}`] as const;
  return [
    endpoint(`list${name.charAt(0).toUpperCase()}${name.slice(1)}`, `GET ${all}`, {
      summary: `List ${name}`,
      description: 'Ordered by id by default. Filters, sorts and pages as json-server does.',
      query: createListQuery(members),
      replies: { 200: list(shape) },
      headers: LIST_HEADERS,
      handle: async ({ sandbox, query }) =>
        createListReply(selectPage<AnyRecord>(sandbox.state.store[name], query)),
    }),
    endpoint(`create${record}`, `POST ${all}`, {
      summary: `Create ${noun}`,
      description: `Validated like a fixture.${assignsId ? ' Without an id, the record gets the next one.' : ''}`,
      body: { shape: assignsId ? unaddressed : shape },
      example: { body: { [idName]: 1000, ...example.record } },
      replies: {
        201: shape,
        409: 'A record with this id exists.',
        ...(assignsId && { 507: 'No id is left.' }),
      },
      headers: { Location: 'The path of the record.' },
      handle: (call) =>
        edit(call, `created ${noun}`, (state) => {
          const { mount, body } = call;
          const records = state.store[name];
          const { [idName]: given }: AnyRecord = body;
          const id = typeof given === 'bigint' ? given : (records.highestId ?? 0n) + 1n;
          if (id > INT64_MAX) {
            const message = `no id is left above ${INT64_MAX}`;
            return outcome(state, refuse('ids_exhausted', 507, message));
          }
          if (records.has(id)) {
            const message = `${noun} with the ${idName} ${id} exists`;
            return outcome(state, refuse('already_exists', 409, message));
          }
          const headers = { Location: `${mount}/${name}/${id}` };
          return saveRecord(name, state, id, { [idName]: id, ...body }, { status: 201, headers });
        }),
    }),
    endpoint(`get${record}`, `GET ${one}`, {
      summary: `Read ${noun}`,
      example: { path: example.id },
      replies: { 200: shape, 404: missing },
      handle: withId(async ({ sandbox }, id) => {
        const found = sandbox.state.store[name].get(id);
        return found ? { status: 200, content: recordText(found) } : refuseRecord(kind, id);
      }),
    }),
    endpoint(`put${record}`, `PUT ${one}`, {
      summary: `Replace or create ${noun}`,
      body: { shape: unaddressed },
      example: { path: example.id, body: example.record },
      replies: { 200: shape, 201: shape },
      handle: withId((call, id) =>
        edit(call, `replaced ${stripArticle(kind)} ${id}`, (state) => {
          const { body } = call;
          const status = state.store[name].has(id) ? 200 : 201;
          return saveRecord(name, state, id, { [idName]: id, ...body }, { status });
        }),
      ),
    }),
    endpoint(`patch${record}`, `PATCH ${one}`, {
      summary: `Update ${noun}`,
      description:
        'Fields that the body leaves out keep their values; null removes an optional one.',
      body: { shape: named(`${record}Changes`, changesOf(members)) },
      example: { path: example.id, body: example.change },
      replies: { 200: shape, 404: missing },
      handle: withId((call, id) =>
        edit(call, `changed ${stripArticle(kind)} ${id}`, (state) => {
          const { body } = call;
          const before = state.store[name].get(id);
          if (before === undefined) return outcome(state, refuseRecord(kind, id));
          return saveRecord(name, state, id, applyRecordChanges(members, before, body));
        }),
      ),
    }),
    endpoint(`delete${record}`, `DELETE ${one}`, {
      summary: `Remove ${noun}`,
      example: { path: example.id },
      ...(name === 'animals' && {
        description: "Also removes the animal's inventory entry and its orders.",
      }),
      replies: { 204: 'Removed.', 404: missing },
      handle: withId((call, id) =>
        edit(call, `removed ${stripArticle(kind)} ${id}`, (state) => {
          const { store } = state;
          if (!store[name].has(id)) return outcome(state, refuseRecord(kind, id));
          const after =
            name === 'animals'
              ? withoutAnimals(store, [id])
              : { ...store, [name]: store[name].without([id]) };
          return outcome(state, NO_CONTENT, { store: after });
        }),
      ),
    }),
  ];
}

function saveRecord<Name extends CollectionName>(
  name: Name,
  state: State,
  id: bigint,
  value: AnyRecord,
  reply: ControlReply = { status: 200 },
): Outcome<ControlReply> {
  const { store } = state;
  const reading = readWith((report) => {
    const record = STORED_RECORDS[name].read(value, [], report);
    const { [ID_NAME[name]]: given, petId }: AnyRecord = record ?? {};
    if (record !== undefined && given !== id) {
      report({ at: [ID_NAME[name]], expected: `${id}, as in the path`, found: String(given) });
    }
    reportMissingAnimal(store.animals, petId, ['petId'], report);
    return record;
  });
  if (!reading.ok) return outcome(state, refuseInput(reading.problems));
  const saved = { ...reply, content: recordText(reading.value) };
  return outcome(state, saved, { store: { ...store, [name]: store[name].with(reading.value) } });
}

function refuseRecord(kind: RecordKind, id: bigint): ControlReply {
  const { name, notFound: code } = kind;
  const message = `there is no ${stripArticle(kind)} with the ${ID_NAME[name]} ${id}`;
  return refuse(code, 404, message);
}

function stripArticle({ noun }: RecordKind): string {
  return noun.replace(/^an? /, '');
}

function withId<Body>(
  handle: (call: ControlCall<Body>, id: bigint) => Promise<ControlReply>,
): (call: ControlCall<Body>) => Promise<ControlReply> {
  return async (call) => {
    const { id: text = '' } = call.params;
    const id = parseInt64(text);
    if (id !== undefined) return handle(call, id);
    const expected = `an integer from ${INT64_MIN} to ${INT64_MAX}`;
    return refuseInput([{ path: 'id in the path', expected, found: describe(text) }]);
  };
}
