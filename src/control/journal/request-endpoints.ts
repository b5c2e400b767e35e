import { writeJson } from '../../contract/json.ts';
import { ref } from '../../contract/openapi-schemas.ts';
import {
  type ControlCall,
  type ControlReply,
  DONE,
  type Endpoint,
  json,
  refuse,
  refuseInput,
} from '../endpoint.ts';
import {
  FILTER_PARAMETERS,
  LIMIT_PARAMETER,
  readBodyFilter,
  readLimitedFilter,
  readQueryFilter,
} from './exchange-filter.ts';
import { MOST_STREAMS, streamsOf } from './exchange-stream.ts';
import { exchangeView } from './exchange-view.ts';

const TOO_MANY = `there are ${MOST_STREAMS} streams already, as many as a server has at a time: leave one first`;

export const REQUEST_ENDPOINTS: readonly Endpoint[] = [
  {
    id: 'listRequests',
    method: 'get',
    path: '/requests',
    tag: 'Journal',
    summary: 'The exchanges that are kept, the newest last',
    parameters: [...FILTER_PARAMETERS, LIMIT_PARAMETER],
    replies: { 200: { description: 'The journal.', schema: ref('schemas', 'Journal') } },
    handle: listRequests,
  },
  {
    id: 'deleteRequests',
    method: 'delete',
    path: '/requests',
    tag: 'Journal',
    summary: 'Empty the journal',
    replies: { 204: { description: 'Emptied.' } },
    handle: ({ sandbox }) => ({ ...DONE, finish: () => sandbox.journal.clear() }),
  },
  {
    id: 'countRequests',
    method: 'post',
    path: '/requests/count',
    tag: 'Journal',
    summary: 'Count exchanges',
    description:
      '`complete` is false where an exchange that is no longer kept could have been one of them.',
    body: { schema: ref('schemas', 'ExchangeFilter'), optional: true },
    replies: { 200: { description: 'The count.', schema: ref('schemas', 'ExchangeCount') } },
    handle: ({ sandbox, body = {} }) => {
      const filter = readBodyFilter(body);
      return filter.ok ? json(sandbox.journal.count(filter.value)) : refuseInput(filter.problems);
    },
  },
  {
    id: 'streamRequests',
    method: 'get',
    path: '/requests/stream',
    tag: 'Journal',
    summary: 'Exchanges as they happen',
    description:
      'Server-sent events: `exchange` with one exchange, and `dropped` with the `count` of those that a slow client has missed.',
    parameters: FILTER_PARAMETERS,
    replies: {
      200: {
        description: 'The stream.',
        schema: { type: 'string' },
        mediaType: 'text/event-stream',
      },
      503: {
        description: `The server has ${MOST_STREAMS} streams already.`,
        schema: ref('schemas', 'Error'),
      },
    },
    handle: ({ parts, sandbox, query }) => {
      const filter = readQueryFilter(query);
      if (!filter.ok) return refuseInput(filter.problems);
      const streams = streamsOf(parts.sandboxes.observers);
      if (streams.areFull) return refuse('service_unavailable', 503, TOO_MANY);
      return {
        status: 200,
        body: {
          kind: 'stream',
          mediaType: 'text/event-stream',
          open: (response) => streams.open(response, sandbox, filter.value),
        },
      };
    },
  },
];

function listRequests({ sandbox: { journal }, query }: ControlCall): ControlReply {
  const reading = readLimitedFilter(query);
  if (!reading.ok) return refuseInput(reading.problems);
  const { limit = Number.POSITIVE_INFINITY, ...filter } = reading.value;
  const selected = [...journal.select(filter)];
  const latest = selected.slice(Math.max(0, selected.length - limit));
  // The journal takes its exchanges again for later ones, so each is written now.
  const texts = latest.map((exchange) => writeJson(exchangeView(exchange)));
  const { dropped } = journal;
  const rest = `"dropped":${dropped},"total":${selected.length}}`;
  const pieces = [`{"exchanges":[${texts.join(',')}],`, rest];
  return { status: 200, body: { kind: 'pieces', pieces } };
}
