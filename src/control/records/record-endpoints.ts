import {
  type AnyRecord,
  type CollectionName,
  type Fields,
  STORED_RECORDS,
} from '../../contract/records.ts';
import { changesShape, membersShape, RECORD_SHAPES } from '../../shape/record-shapes.ts';
import { list, named, type Shape } from '../../shape/shapes.ts';
import { ID_NAME } from '../../store/store.ts';
import { arrayText } from '../../store/store-text.ts';
import { joinWords } from '../../words.ts';
import {
  type ControlCall,
  type ControlReply,
  type EndpointDefinition,
  type Parameter,
  parametersOf,
  refuseInput,
  withBody,
} from '../endpoint.ts';
import { queryRecords, SETTINGS, type Source } from './query.ts';
import {
  create,
  type Kind,
  notFound,
  patch,
  put,
  recordReply,
  remove,
  withId,
} from './record-changes.ts';

export const RECORD_ENDPOINTS: readonly EndpointDefinition[] = [
  ...endpointsOf({
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
  ...endpointsOf({
    name: 'inventory',
    record: 'InventoryEntry',
    noun: 'an inventory entry',
    notFound: 'inventory_entry_not_found',
    example: { id: 2, record: { quantity: 12, status: 'available' }, change: { quantity: 0 } },
  }),
  ...endpointsOf({
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

function endpointsOf(kind: Kind<CollectionName>): readonly EndpointDefinition[] {
  const { name, record, noun, example } = kind;
  const fields: Fields = STORED_RECORDS[name];
  const byId = { path: example.id };
  const stored: Shape<AnyRecord> = RECORD_SHAPES[name];
  const shape = named(record, stored);
  const required = Object.keys(fields).filter((field) => fields[field]?.required);
  // The path has the id, or the store assigns one.
  const withoutId = required.filter((field) => field !== ID_NAME[name]);
  const unaddressed = named(`New${record}`, membersShape(fields, withoutId));
  const assignsId = name !== 'inventory';
  const added: Shape<AnyRecord> = assignsId ? unaddressed : shape;
  const missing = 'The record does not exist.';
  const [all, one] = [`/${name}`, `/${name}/{id}`];
  return [
    {
      id: `list${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      route: ['get', all],
      summary: `List ${name}`,
      description: 'Ordered by id by default. Filters, sorts and pages as json-server does.',
      parameters: listParameters(fields),
      replies: {
        200: {
          description: `The ${name}.`,
          shape: list(shape),
          headers: { 'X-Total-Count': 'The number of records, regardless of page and limit.' },
        },
      },
      handle: (call) => listRecords(kind, call),
    },
    withBody({
      id: `create${record}`,
      route: ['post', all],
      summary: `Create ${noun}`,
      description: `Validated like a fixture.${assignsId ? ' Without an id, the record gets the next one.' : ''}`,
      body: { shape: added },
      example: { body: { [ID_NAME[name]]: 1000, ...example.record } },
      replies: {
        201: { description: 'Created.', shape, headers: { Location: 'The path of the record.' } },
        409: 'A record with this id exists.',
        ...(assignsId && { 507: 'No id is left.' }),
      },
      handle: ({ sandbox, mount, body }) =>
        sandbox.change((state) => create(kind, state, mount, body)),
    }),
    {
      id: `get${record}`,
      route: ['get', one],
      summary: `Read ${noun}`,
      example: byId,
      replies: { 200: { description: 'The record.', shape }, 404: missing },
      handle: withId(({ sandbox }, id) => {
        const found = sandbox.state.store[kind.name].get(id);
        return found === undefined ? notFound(kind, id) : recordReply(found);
      }),
    },
    withBody({
      id: `put${record}`,
      route: ['put', one],
      summary: `Replace or create ${noun}`,
      body: { shape: unaddressed },
      example: { ...byId, body: example.record },
      replies: {
        200: { description: 'Replaced.', shape },
        201: { description: 'Created.', shape },
      },
      handle: withId(({ sandbox, body }, id) =>
        sandbox.change((state) => put(kind, state, id, body)),
      ),
    }),
    withBody({
      id: `patch${record}`,
      route: ['patch', one],
      summary: `Update ${noun}`,
      description:
        'Fields that the body leaves out keep their values; null removes an optional one.',
      body: { shape: named(`${record}Changes`, changesShape(fields)) },
      example: { ...byId, body: example.change },
      replies: { 200: { description: 'Updated.', shape }, 404: missing },
      handle: withId(({ sandbox, body }, id) =>
        sandbox.change((state) => patch(kind, state, id, body)),
      ),
    }),
    {
      id: `delete${record}`,
      route: ['delete', one],
      summary: `Remove ${noun}`,
      example: byId,
      ...(name === 'animals' && {
        description: "Also removes the animal's inventory entry and its orders.",
      }),
      replies: { 204: 'Removed.', 404: missing },
      handle: withId(({ sandbox }, id) => sandbox.change((state) => remove(kind, state, id))),
    },
  ];
}

/** The parameters of a list. */
export function listParameters(fields: Fields): readonly Parameter[] {
  return [...Object.keys(fields).map(filterParameter), ...parametersOf(SETTINGS)];
}

function filterParameter(name: string): Parameter {
  const others = ['_ne', '_gte', '_lte', '_like'].map((operator) => `\`${name}${operator}\``);
  const description = `Records with this value. ${joinWords(others, 'and')} compare in other ways.`;
  return { name, description, schema: { type: 'string' } };
}

function listRecords(kind: Kind<CollectionName>, { sandbox, query }: ControlCall): ControlReply {
  const records: Source<AnyRecord> = sandbox.state.store[kind.name];
  const page = queryRecords(STORED_RECORDS[kind.name], records, query);
  if (!page.ok) return refuseInput(page.problems);
  return listReply(page.value.records, page.value.total);
}

/** A page of a list. */
export function listReply(records: Iterable<object>, total: number): ControlReply {
  const headers = { 'X-Total-Count': String(total) };
  return { status: 200, headers, body: { kind: 'pieces', pieces: arrayText(records) } };
}
