import { writeJson } from '../../contract/json.ts';
import { ANY_TEXT, type ValueOf } from '../../shape/shapes.ts';
import { ERROR, EXCHANGE_COUNT, JOURNAL } from '../control-shapes.ts';
import {
  type ControlCall,
  type ControlReply,
  DONE,
  type Endpoint,
  json,
  refuse,
  withBody,
  withQuery,
} from '../endpoint.ts';
import { FILTER, LIMITED_FILTER } from './exchange-filter.ts';
import { MOST_STREAMS, streamsOf } from './exchange-stream.ts';
import { exchangeView } from './exchange-view.ts';

const TOO_MANY = `there are ${MOST_STREAMS} streams already, as many as a server has at a time: leave one first`;

export const REQUEST_ENDPOINTS: readonly Endpoint[] = [
  withQuery(LIMITED_FILTER, {
    id: 'listRequests',
    method: 'get',
    path: '/requests',
    tag: 'Journal',
    summary: 'The exchanges that are kept, the newest last',
    replies: { 200: { description: 'The journal.', shape: JOURNAL } },
    handle: ({ sandbox, query }) => listRequests(sandbox, query),
  }),
  {
    id: 'deleteRequests',
    method: 'delete',
    path: '/requests',
    tag: 'Journal',
    summary: 'Empty the journal',
    replies: { 204: { description: 'Emptied.' } },
    handle: ({ sandbox }) => {
      sandbox.journal.clear();
      return DONE;
    },
  },
  withBody({
    id: 'countRequests',
    method: 'post',
    path: '/requests/count',
    tag: 'Journal',
    summary: 'Count exchanges',
    description:
      '`complete` is false where an exchange that is no longer kept could have been one of them.',
    body: { shape: FILTER, optional: true },
    replies: { 200: { description: 'The count.', shape: EXCHANGE_COUNT } },
    handle: ({ sandbox, body }) => json(sandbox.journal.count(body)),
  }),
  withQuery(FILTER, {
    id: 'streamRequests',
    method: 'get',
    path: '/requests/stream',
    tag: 'Journal',
    summary: 'Exchanges as they happen',
    description:
      'Server-sent events: `exchange` with one exchange, and `dropped` with the `count` of those that a slow client has missed.',
    replies: {
      200: {
        description: 'The stream.',
        shape: ANY_TEXT,
        mediaType: 'text/event-stream',
      },
      503: {
        description: `The server has ${MOST_STREAMS} streams already.`,
        shape: ERROR,
      },
    },
    handle: ({ parts, sandbox, query }) => {
      const streams = streamsOf(parts.sandboxes.observers);
      if (streams.areFull) return refuse('service_unavailable', 503, TOO_MANY);
      return {
        status: 200,
        body: {
          kind: 'stream',
          mediaType: 'text/event-stream',
          open: (response) => streams.open(response, sandbox, query),
        },
      };
    },
  }),
];

function listRequests(
  { journal }: ControlCall['sandbox'],
  { limit = Number.POSITIVE_INFINITY, ...filter }: ValueOf<typeof LIMITED_FILTER>,
): ControlReply {
  const selected = [...journal.select(filter)];
  const latest = selected.slice(Math.max(0, selected.length - limit));
  // The journal takes its exchanges again for later ones, so each is written now.
  const texts = latest.map((exchange) => writeJson(exchangeView(exchange)));
  const { dropped } = journal;
  const rest = `"dropped":${dropped},"total":${selected.length}}`;
  const pieces = [`{"exchanges":[${texts.join(',')}],`, rest];
  return { status: 200, body: { kind: 'pieces', pieces } };
}
