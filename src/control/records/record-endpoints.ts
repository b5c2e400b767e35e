import { type Fields, STORED_RECORDS } from '../../contract/records.ts';
import { changesShape, membersShape, RECORD_SHAPES } from '../../shape/record-shapes.ts';
import { list, named, type Shape } from '../../shape/shapes.ts';
import { ID_NAME, removeAnimal } from '../../store/merge.ts';
import { arrayText } from '../../store/record-text.ts';
import { ERROR } from '../control-shapes.ts';
import {
  type ControlCall,
  type ControlReply,
  DONE,
  type Endpoint,
  type Parameter,
  refuse,
  withBody,
} from '../endpoint.ts';
import { linkHeader, queryRecords } from './query.ts';
import { create, patch, put } from './record-changes.ts';
import { type AnyRecord, type Kind, notFound, recordReply, withId } from './record-kind.ts';

export const RECORD_ENDPOINTS: readonly Endpoint[] = [
  ...endpointsOf({
    name: 'animals',
    fields: STORED_RECORDS.animals,
    shape: RECORD_SHAPES.animals,
    record: 'Animal',
    noun: 'an animal',
    notFound: 'pet_not_found',
    of: (store) => store.animals,
    remove: removeAnimal,
  }),
  ...endpointsOf({
    name: 'inventory',
    fields: STORED_RECORDS.inventory,
    shape: RECORD_SHAPES.inventory,
    record: 'InventoryEntry',
    noun: 'an inventory entry',
    notFound: 'inventory_entry_not_found',
    of: (store) => store.inventory,
    remove: (store, id) => store.inventory.delete(id),
  }),
  ...endpointsOf({
    name: 'orders',
    fields: STORED_RECORDS.orders,
    shape: RECORD_SHAPES.orders,
    record: 'Order',
    noun: 'an order',
    notFound: 'order_not_found',
    of: (store) => store.orders,
    remove: (store, id) => store.orders.delete(id),
  }),
];

function endpointsOf<R extends AnyRecord>(kind: Kind<R>): readonly Endpoint[] {
  const { name, record, noun } = kind;
  const shape = named(record, kind.shape);
  const required = Object.keys(kind.fields).filter((field) => kind.fields[field]?.required);
  // The path has the id, or the store assigns one.
  const unaddressed = named(
    `New${record}`,
    membersShape(
      kind.fields,
      required.filter((field) => field !== ID_NAME[name]),
    ),
  );
  const added: Shape<AnyRecord> = name === 'inventory' ? shape : unaddressed;
  const changes = named(`${record}Changes`, changesShape(kind.fields));
  const missing = { description: 'There is no such record.', shape: ERROR };
  const conflict = { description: 'There is one with this id.', shape: ERROR };
  const exhausted = { description: 'No id is left.', shape: ERROR };
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
          shape: list(shape),
          headers: {
            'X-Total-Count': 'How many there are without a page or a limit.',
            Link: 'With `_page`: the pages around this one.',
          },
        },
      },
      handle: (call) => listRecords(kind, call),
    },
    withBody({
      ...common,
      id: `create${record}`,
      method: 'post',
      summary: `Add ${noun}`,
      description:
        name === 'inventory'
          ? 'Checked as a fixture is.'
          : 'Checked as a fixture is. Without an id it gets the next one.',
      body: { shape: added },
      replies: {
        201: { description: 'Added.', shape, headers: { Location: 'Where the record is.' } },
        409: conflict,
        ...(name === 'inventory' ? {} : { 507: exhausted }),
      },
      handle: ({ body, ...call }) => create(kind, call, body),
    }),
    {
      ...one,
      id: `get${record}`,
      method: 'get',
      summary: `One of the ${name}`,
      replies: { 200: { description: 'The record.', shape }, 404: missing },
      handle: ({ params, sandbox }) =>
        withId(params, (id) => {
          const found = kind.of(sandbox.world.store).get(id);
          return found === undefined ? notFound(kind, id) : recordReply(found);
        }),
    },
    withBody({
      ...one,
      id: `put${record}`,
      method: 'put',
      summary: `Replace or add ${noun}`,
      body: { shape: unaddressed },
      replies: {
        200: { description: 'Replaced.', shape },
        201: { description: 'Added.', shape },
      },
      handle: ({ params, sandbox, body }) =>
        withId(params, (id) => put(kind, sandbox.world.store, id, body)),
    }),
    withBody({
      ...one,
      id: `patch${record}`,
      method: 'patch',
      summary: `Change members of ${noun}`,
      description: 'Members that are left out stay; null takes an optional one away.',
      body: { shape: changes },
      replies: { 200: { description: 'Changed.', shape }, 404: missing },
      handle: ({ params, sandbox, body }) =>
        withId(params, (id) => patch(kind, sandbox.world.store, id, body)),
    }),
    {
      ...one,
      id: `delete${record}`,
      method: 'delete',
      summary: `Take ${noun} out`,
      ...(name === 'animals' && {
        description: 'With an animal go its inventory entry and its orders.',
      }),
      replies: { 204: { description: 'Taken out.' }, 404: missing },
      handle: ({ params, sandbox }) =>
        withId(params, async (id) =>
          (await kind.remove(sandbox.world.store, id)) ? DONE : notFound(kind, id),
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

async function listRecords<R extends AnyRecord>(
  kind: Kind<R>,
  { sandbox, query, url }: ControlCall,
): Promise<ControlReply> {
  // The collection as it is now, however long the query or its reader takes.
  const collection = kind.of(sandbox.world.store).fork();
  if (query.size === 0) {
    return arrayReply(collection.ascending(), { 'X-Total-Count': String(collection.size) });
  }
  const answer = await queryRecords(kind.fields, collection, query);
  if (!answer.ok) return refuse('invalid_input', 400, answer.problems.join('; '));
  const headers: Record<string, string> = { 'X-Total-Count': String(answer.total) };
  const target = `${url}/${kind.name}?${query}`;
  const link = answer.pages && linkHeader(target, answer.pages);
  if (link !== undefined) headers.Link = link;
  return arrayReply(answer.records, headers);
}

function arrayReply(records: Iterable<object>, headers: Record<string, string>): ControlReply {
  return { status: 200, headers, body: { kind: 'pieces', pieces: arrayText(records) } };
}
