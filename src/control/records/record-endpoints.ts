import { ref } from '../../contract/openapi-schemas.ts';
import { type Fields, STORED_RECORDS } from '../../contract/records.ts';
import { removeAnimal } from '../../store/merge.ts';
import { arrayText } from '../../store/record-text.ts';
import {
  type ControlCall,
  type ControlReply,
  DONE,
  type Endpoint,
  type Parameter,
  refuse,
} from '../endpoint.ts';
import { linkHeader, queryRecords } from './query.ts';
import { create, patch, put } from './record-changes.ts';
import { type Kind, notFound, recordReply, withId } from './record-kind.ts';

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

async function list<F extends Fields>(
  kind: Kind<F>,
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
