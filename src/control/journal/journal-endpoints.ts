import { isIntegerText } from '../../contract/int64.ts';
import { coverageOf, howToGet } from '../../evidence/coverage.ts';
import type { Exchange } from '../../evidence/exchange.ts';
import { findingsOf } from '../../evidence/findings.ts';
import {
  COUNT,
  EXCHANGE_FILTER,
  FILTER_MEMBERS,
  type ReplyCoverage,
} from '../../evidence/report-shapes.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { PATIENCE } from '../../scenario/time-shapes.ts';
import { object, optional } from '../../shape/objects.ts';
import {
  ANY,
  ANY_TEXT,
  choice,
  FLAG,
  named,
  type Shape,
  type ValueOf,
} from '../../shape/shapes.ts';
import { describe } from '../../words.ts';
import {
  COVERAGE,
  type Coverage,
  EXCHANGE,
  EXCHANGE_COUNT,
  FINDINGS,
  type Findings,
  JOURNAL,
} from '../control-shapes.ts';
import {
  type ControlReply,
  DONE,
  type EndpointDefinition,
  json,
  refuse,
  serviceUrl,
  withBody,
  withQuery,
} from '../endpoint.ts';
import type { ControlParts } from '../parts.ts';
import { canStream, openStream, STREAM_LIMITS, TOO_MANY_STREAMS } from './exchange-stream.ts';
import { exchangeText } from './exchange-text.ts';
import { harText } from './har.ts';
import { countWhen } from './waiting.ts';

const HAR: Shape<unknown> = { ...ANY, schema: { type: 'object' } };

/** A filter of exchanges, all members of which must match, and how long to wait for how many. */
const AWAITED_FILTER = named(
  'ExchangeFilter',
  object({
    ...FILTER_MEMBERS,
    atLeast: optional(COUNT, 'Wait until so many exchanges match; 1 by default.'),
    within: optional(
      PATIENCE,
      'The longest wait, in real time, up to `PT60S`; `PT10S` by default with `atLeast`.',
    ),
  }),
);

/** A filter, how many exchanges to return, and their order. */
const LIMITED_FILTER = object({
  ...FILTER_MEMBERS,
  limit: optional(COUNT, 'Return only this many of the latest exchanges.'),
  order: optional(choice(['asc', 'desc']), '`desc` lists the newest first; `asc` is the default.'),
});

export const REQUEST_ENDPOINTS: readonly EndpointDefinition[] = [
  withQuery(LIMITED_FILTER, {
    id: 'listRequests',
    route: ['get', '/requests'],
    summary: 'List exchanges, by default the newest last',
    description:
      'Returns the exchanges that match. For the previous page, set `before` to the lowest number of this one.',
    replies: { 200: { description: 'The journal.', shape: JOURNAL } },
    handle: ({ sandbox, query, parts }) => listRequests(sandbox, query, parts),
  }),
  withQuery(LIMITED_FILTER, {
    id: 'exportRequests',
    route: ['get', '/requests.har'],
    summary: 'Export exchanges as HAR 1.2',
    description:
      'Selects exchanges as `GET requests` does. Developer tools of browsers import the reply. Credentials are masked, and bodies that the journal kept only in part are marked.',
    replies: { 200: { description: 'An HTTP archive.', shape: HAR } },
    handle: ({ sandbox, query, parts, url }) => {
      const { exchanges } = selected(sandbox, query);
      const pieces = harText(exchanges, new URL(url).origin, parts.plain === true);
      return { status: 200, body: { kind: 'pieces', pieces } };
    },
  }),
  {
    id: 'deleteRequests',
    route: ['delete', '/requests'],
    summary: 'Clear the journal',
    replies: { 204: 'Cleared.' },
    handle: ({ sandbox }) =>
      sandbox.change((state) => ({ state, result: DONE, clears: 'journal' })),
  },
  withBody({
    id: 'countRequests',
    route: ['post', '/requests/count'],
    summary: 'Count exchanges',
    description:
      'With `atLeast` or `within`, waits until so many match, or the time is over. `complete` is false if an exchange that is no longer kept could have matched.',
    body: { shape: AWAITED_FILTER, optional: true },
    example: { body: { operation: 'cancelOrder' } },
    replies: { 200: { description: 'The count.', shape: EXCHANGE_COUNT } },
    handle: async (call) => {
      const { atLeast, within, ...filter } = call.body;
      const isAwaited = atLeast !== undefined || within !== undefined;
      const wait = { atLeast: atLeast ?? 1, within: within ?? (isAwaited ? 10_000 : 0) };
      const count = await countWhen(call, filter, wait);
      return json({ count, complete: call.sandbox.evidence.journal.isComplete(filter) });
    },
  }),
  withQuery(EXCHANGE_FILTER, {
    id: 'streamRequests',
    route: ['get', '/requests/stream'],
    summary: 'Stream exchanges',
    description: `Sends server-sent events: \`exchange\` for each exchange, and \`dropped\` with the \`count\` of exchanges that were skipped; \`hold\` with the exchange again when a reply that was held back is let go. Starts after the exchange that \`Last-Event-ID\` or \`after\` names, else with the next one. ${STREAM_LIMITS}`,
    replies: {
      200: { description: 'The stream.', shape: ANY_TEXT, mediaType: 'text/event-stream' },
      503: 'Too many streams are open.',
    },
    handle: ({ sandbox, headers, query: { after, ...filter }, parts: { plain = false } }) => {
      if (!canStream()) return refuse('service_unavailable', 503, TOO_MANY_STREAMS);
      const lastId = String(headers['last-event-id'] ?? '');
      const options = { filter, plain, after: isIntegerText(lastId) ? Number(lastId) : after };
      return {
        status: 200,
        body: {
          kind: 'stream',
          mediaType: 'text/event-stream',
          // A response queued behind others would get no event when its client disconnects.
          open: (response) => openStream(response, sandbox, options),
        },
      };
    },
  }),
  {
    id: 'getRequest',
    route: ['get', '/requests/{number}'],
    summary: 'Read an exchange',
    example: { path: 1 },
    replies: {
      200: { description: 'The exchange.', shape: EXCHANGE },
      404: 'The journal does not have it, or has dropped it.',
    },
    handle: ({ sandbox, params: { number = '' }, parts }) => getRequest(sandbox, number, parts),
  },
];

interface Selection {
  readonly exchanges: readonly Exchange[];
  /** How many match, regardless of the limit. */
  readonly total: number;
}

function selected(
  { evidence: { journal } }: Sandbox,
  { limit, order, ...filter }: ValueOf<typeof LIMITED_FILTER>,
): Selection {
  const matching = [...journal.select(filter)];
  const exchanges = matching.slice(0, limit);
  if (order !== 'desc') exchanges.reverse();
  return { exchanges, total: matching.length };
}

function listRequests(
  sandbox: Sandbox,
  query: ValueOf<typeof LIMITED_FILTER>,
  { plain = false }: ControlParts,
): ControlReply {
  const { dropped } = sandbox.evidence.journal;
  const pieces = journalText(selected(sandbox, query), dropped, plain);
  return { status: 200, body: { kind: 'pieces', pieces } };
}

function* journalText(
  { exchanges, total }: Selection,
  dropped: number,
  plain: boolean,
): Generator<string> {
  yield '{"exchanges":[';
  let separator = '';
  for (const exchange of exchanges) {
    yield separator + exchangeText(exchange, plain);
    separator = ',';
  }
  yield `],"dropped":${dropped},"total":${total}}`;
}

function getRequest(
  { evidence: { journal } }: Sandbox,
  text: string,
  { plain = false }: ControlParts,
): ControlReply {
  const exchange = isIntegerText(text) ? journal.at(Number(text)) : undefined;
  if (exchange !== undefined) {
    return { status: 200, body: { kind: 'pieces', pieces: [exchangeText(exchange, plain)] } };
  }
  const number = isIntegerText(text) ? Number(text) : 0;
  if (number < 1 || number > journal.number) {
    const latest = journal.number === 0 ? 'there is none yet' : `the latest is ${journal.number}`;
    return refuse('not_found', 404, `there is no exchange ${describe(text)}; ${latest}`);
  }
  const oldest = journal.number - journal.size + 1;
  const left =
    journal.size === 0
      ? 'none is left'
      : journal.size === 1
        ? `only exchange ${oldest} is left`
        : `exchanges ${oldest} to ${journal.number} are left`;
  return refuse('not_found', 404, `exchange ${number} was cleared; ${left}`);
}

const SCOPE = object({
  all: optional(FLAG, 'Report on all sandboxes, including deleted ones and what a reset cleared.'),
});

export const COVERAGE_ENDPOINTS: readonly EndpointDefinition[] = [
  withQuery(SCOPE, {
    id: 'getCoverage',
    route: ['get', '/coverage'],
    summary: 'Report which replies and cases the client has seen',
    replies: {
      200: {
        description: 'The coverage of documented replies, cases and assumed replies.',
        shape: COVERAGE,
      },
    },
    handle: async ({ parts, sandbox, query: { all }, url }) => {
      const { sandboxes } = parts;
      const report = all
        ? sandboxes.coverage(await sandboxes.all())
        : coverageOf(sandbox.evidence.totals);
      const [key] = sandbox.state.settings.start.keys.valid;
      // Under --plain the server ignores `Prefer`.
      const withCurl = (it: ReplyCoverage) =>
        parts.plain && it.status !== 401 ? it : { ...it, curl: howToGet(it, serviceUrl(url), key) };
      return json<Coverage>({
        ...report,
        documented: report.documented.map(withCurl),
        assumed: report.assumed.map(withCurl),
      });
    },
  }),
  withQuery(SCOPE, {
    id: 'getFindings',
    route: ['get', '/findings'],
    summary: 'List what the client should not do against the real service',
    replies: {
      200: {
        description: 'The findings. `total` and `counts` include findings that are no longer kept.',
        shape: FINDINGS,
      },
    },
    handle: async ({ parts: { sandboxes }, sandbox, query: { all } }) =>
      json<Findings>(
        all ? sandboxes.findings(await sandboxes.all()) : findingsOf(sandbox.evidence.totals),
      ),
  }),
];
