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

const TOO_MANY = `stream limit (${MOST_STREAMS}) reached; close a stream first`;

export const REQUEST_ENDPOINTS: readonly Endpoint[] = [
  withQuery(LIMITED_FILTER, {
    id: 'listRequests',
    method: 'get',
    path: '/requests',
    tag: 'Journal',
    summary: 'List exchanges, the newest last',
    replies: { 200: { description: 'The journal.', shape: JOURNAL } },
    handle: ({ sandbox, query }) => listRequests(sandbox, query),
  }),
  {
    id: 'deleteRequests',
    method: 'delete',
    path: '/requests',
    tag: 'Journal',
    summary: 'Clear the journal',
    replies: { 204: { description: 'Cleared.' } },
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
    description: '`complete` is false if an exchange that is no longer kept could have matched.',
    body: { shape: FILTER, optional: true },
    replies: { 200: { description: 'The count.', shape: EXCHANGE_COUNT } },
    handle: ({ sandbox, body }) => json(sandbox.journal.count(body)),
  }),
  withQuery(FILTER, {
    id: 'streamRequests',
    method: 'get',
    path: '/requests/stream',
    tag: 'Journal',
    summary: 'Stream exchanges',
    description:
      'Sends server-sent events: `exchange` for each exchange, and `dropped` with the `count` of exchanges that a slow client missed.',
    replies: {
      200: {
        description: 'The stream.',
        shape: ANY_TEXT,
        mediaType: 'text/event-stream',
      },
      503: {
        description: `The server already has ${MOST_STREAMS} streams.`,
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
  // The journal reuses its exchange objects, so each is written now.
  const texts = latest.map((exchange) => writeJson(exchangeView(exchange)));
  const { dropped } = journal;
  const rest = `"dropped":${dropped},"total":${selected.length}}`;
  const pieces = [`{"exchanges":[${texts.join(',')}],`, rest];
  return { status: 200, body: { kind: 'pieces', pieces } };
}
