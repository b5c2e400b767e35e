import {
  type CollectionName,
  type RecordJson,
  STORED_RECORDS,
  type StoredMembers,
} from '../../contract/records.ts';
import type { Json } from '../../json.ts';
import type { ObjectMembers } from '../../shape/objects.ts';
import { changesOf, partOf, type RecordChanges } from '../../shape/record-shapes.ts';
import { list, named, type Shape } from '../../shape/shapes.ts';
import { ID_NAME } from '../../store/store.ts';
import { endpoint } from '../endpoint.ts';
import { createListQuery, LIST_HEADERS } from './list-query.ts';

interface RecordKind {
  /** The singular, in ids of endpoints and in names of schemas, such as `Animal`. */
  readonly one: string;
  /** The plural, in the id of the endpoint that lists them. */
  readonly all: string;
  readonly noun: string;
  readonly example: { readonly id: number; readonly record: Json & object; readonly change: Json };
}

export const RECORD_KINDS: Readonly<Record<CollectionName, RecordKind>> = {
  animals: {
    ...{ one: 'Animal', all: 'Animals', noun: 'an animal' },
    example: {
      id: 3,
      record: { name: 'Polly', categoryId: 3, status: 'available' },
      change: { status: 'sold' },
    },
  },
  inventory: {
    ...{ one: 'InventoryEntry', all: 'Inventory', noun: 'an inventory entry' },
    example: { id: 2, record: { quantity: 12, status: 'available' }, change: { quantity: 0 } },
  },
  orders: {
    ...{ one: 'Order', all: 'Orders', noun: 'an order' },
    example: {
      id: 4,
      record: { petId: 1, quantity: 2, shipDate: '2031-01-15T09:30:00Z', complete: false },
      change: { status: 'shipped' },
    },
  },
};

export const RECORD_ENDPOINTS = [
  ...Object.values(createRecordEndpoints('animals')),
  ...Object.values(createRecordEndpoints('inventory')),
  ...Object.values(createRecordEndpoints('orders')),
];

/** The verbs for which each collection has an endpoint. */
export type RecordVerb = keyof ReturnType<typeof createRecordEndpoints<'animals'>>;

export function recordEndpointId(name: CollectionName, verb: string): string {
  const { one, all } = RECORD_KINDS[name];
  return verb === 'list' ? `list${all}` : verb + one;
}

function createRecordEndpoints<Name extends CollectionName>(name: Name) {
  const { one, noun, example } = RECORD_KINDS[name];
  const idOf = (verb: string) => recordEndpointId(name, verb);
  const { whole, posted, unaddressed, changes } = createShapes(name, one);
  const assignsId = name !== 'inventory';
  const missing = 'The record does not exist.';
  return {
    list: endpoint(idOf('list'), `GET /${name}`, {
      summary: `List ${name}`,
      description: 'Ordered by id by default. Filters, sorts and pages as json-server does.',
      query: createListQuery<RecordJson[Name]>(STORED_RECORDS[name].members),
      replies: { 200: list(whole) },
      headers: LIST_HEADERS,
    }),
    create: endpoint(idOf('create'), `POST /${name}`, {
      summary: `Create ${noun}`,
      description: `Validated like a fixture.${assignsId ? ' Without an id, the record gets the next one.' : ''}`,
      body: { shape: posted },
      example: { body: { [ID_NAME[name]]: 1000, ...example.record } },
      replies: {
        201: whole,
        409: 'A record with this id exists.',
        ...(assignsId && { 507: 'No id is left.' }),
      },
      headers: { Location: 'The path of the record.' },
    }),
    get: endpoint(idOf('get'), `GET /${name}/{id}`, {
      summary: `Read ${noun}`,
      example: { path: example.id },
      replies: { 200: whole, 404: missing },
    }),
    put: endpoint(idOf('put'), `PUT /${name}/{id}`, {
      summary: `Replace or create ${noun}`,
      body: { shape: unaddressed },
      example: { path: example.id, body: example.record },
      replies: { 200: whole, 201: whole },
    }),
    patch: endpoint(idOf('patch'), `PATCH /${name}/{id}`, {
      summary: `Update ${noun}`,
      description:
        'Fields that the body leaves out keep their values; null removes an optional one.',
      body: { shape: changes },
      example: { path: example.id, body: example.change },
      replies: { 200: whole, 404: missing },
    }),
    delete: endpoint(idOf('delete'), `DELETE /${name}/{id}`, {
      summary: `Remove ${noun}`,
      example: { path: example.id },
      ...(name === 'animals' && {
        description: "Also removes the animal's inventory entry and its orders.",
      }),
      replies: { 204: 'Removed.', 404: missing },
    }),
  };
}

/** A record without its id, which is in the path or assigned by the mock. */
type WithoutId<R, Id extends PropertyKey> = Omit<R, Id> & {
  readonly [Name in Extract<Id, keyof R>]?: R[Name] | undefined;
};

type Unaddressed<Name extends CollectionName> = WithoutId<RecordJson[Name], (typeof ID_NAME)[Name]>;

/** The shapes of a record, of a new one and of a change. */
function createShapes<Name extends CollectionName>(
  name: Name,
  title: string,
): {
  readonly whole: Shape<unknown, RecordJson[Name]>;
  /** Inventory entries get no id assigned, so a new one must have its petId. */
  readonly posted: Shape<unknown, Name extends 'inventory' ? RecordJson[Name] : Unaddressed<Name>>;
  readonly unaddressed: Shape<unknown, Unaddressed<Name>>;
  readonly changes: Shape<unknown, RecordChanges<StoredMembers[Name]>>;
};
function createShapes(name: CollectionName, title: string) {
  const stored: Shape<unknown> & { readonly members: ObjectMembers } = STORED_RECORDS[name];
  const { members } = stored;
  const whole = named(title, stored);
  const required = Object.keys(members).filter(
    (member) => members[member]?.required && member !== ID_NAME[name],
  );
  const unaddressed = named(`New${title}`, partOf(members, required));
  return {
    whole,
    posted: name === 'inventory' ? whole : unaddressed,
    unaddressed,
    changes: named(`${title}Changes`, changesOf(members)),
  };
}
