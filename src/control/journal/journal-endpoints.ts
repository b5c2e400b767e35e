import { isIntegerText } from '../../contract/json.ts';
import { coverageOf, howToGet } from '../../sandbox/coverage.ts';
import type { Exchange } from '../../sandbox/exchange.ts';
import { EXCHANGE_FILTER, FILTER_MEMBERS } from '../../sandbox/exchange-filter.ts';
import { findingsOf } from '../../sandbox/findings.ts';
import { COUNT, type ReplyCoverage } from '../../sandbox/report-shapes.ts';
import { totalsOf } from '../../sandbox/sandbox-evidence.ts';
import type { Totals } from '../../sandbox/totals.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { PATIENCE } from '../../scenario/time-shapes.ts';
import { namedObject, object, optional } from '../../shape/objects.ts';
import { ANY_TEXT, choice, FLAG, type ValueOf } from '../../shape/shapes.ts';
import { listText } from '../../store/store-text.ts';
import { describe } from '../../words.ts';
import {
  ANY_OBJECT,
  COVERAGE,
  type Coverage,
  EXCHANGE,
  EXCHANGE_COUNT,
  FINDINGS,
  type Findings,
  JOURNAL,
} from '../control-shapes.ts';
import { type ControlCall, DONE, endpoint, json, refuse, serviceUrl } from '../endpoint.ts';
import { openStream } from './exchange-stream.ts';
import { exchangeText, harEntry, harHead } from './exchange-text.ts';
import { countWhen, HOLD_ENDPOINTS } from './hold-endpoints.ts';

/** A filter of exchanges, all members of which must match, and how long to wait for how many. */
const AWAITED_FILTER = namedObject('ExchangeFilter', {
  ...FILTER_MEMBERS,
  atLeast: optional(COUNT, 'Wait until this many exchanges match; 1 by default.'),
  within: optional(
    PATIENCE,
    'The longest wait, in real time, up to `PT60S`; `PT10S` by default with `atLeast`.',
  ),
});

/** A filter, how many exchanges to return, and their order. */
const LIMITED_FILTER = object({
  ...FILTER_MEMBERS,
  limit: optional(COUNT, 'Return only this many of the latest exchanges.'),
  order: optional(choice(['asc', 'desc']), '`desc` lists the newest first; `asc` is the default.'),
});

const EVENTS = 'text/event-stream';

const SCOPE = object({
  all: optional(FLAG, 'Report on all sandboxes, including deleted ones and what a reset cleared.'),
});

export const JOURNAL_ENDPOINTS = [
  endpoint('listRequests', 'get /requests', {
    summary: 'List exchanges, by default the newest last',
    description:
      'Returns the exchanges that match. For the previous page, set `before` to the lowest number of this one.',
    query: LIMITED_FILTER,
    replies: { 200: JOURNAL },
    handle: ({ sandbox, query, parts: { plain } }) => {
      const { dropped } = sandbox.evidence.journal;
      const { exchanges, total } = select(sandbox, query);
      const texts = listText(exchanges, (it) => exchangeText(it, plain));
      const content = joined('{"exchanges":', texts, `,"dropped":${dropped},"total":${total}}`);
      return { status: 200, content };
    },
  }),
  endpoint('exportRequests', 'get /requests.har', {
    summary: 'Export exchanges as HAR 1.2',
    description:
      'Selects exchanges as `GET requests` does. Developer tools of browsers import the reply. Credentials are masked, and bodies that the journal kept only in part are marked.',
    query: LIMITED_FILTER,
    replies: { 200: ANY_OBJECT },
    handle: ({ sandbox, query, parts: { plain }, origin }) => {
      const { exchanges } = select(sandbox, query);
      const entries = listText(exchanges, (it) => harEntry(it, origin, plain));
      return { status: 200, content: joined(harHead(), entries, '}}') };
    },
  }),
  endpoint('deleteRequests', 'delete /requests', {
    summary: 'Clear the journal',
    replies: { 204: 'Cleared.' },
    handle: ({ sandbox }) =>
      sandbox.change((state) => ({ state, result: DONE, clears: 'journal' })),
  }),
  endpoint('countRequests', 'post /requests/count', {
    summary: 'Count exchanges',
    description:
      'With `atLeast` or `within`, waits until that many match, or the time is over. `complete` is false if an exchange that is no longer kept could have matched.',
    body: { shape: AWAITED_FILTER, optional: true },
    example: { body: { operation: 'cancelOrder' } },
    replies: { 200: EXCHANGE_COUNT },
    handle: async (call) => {
      const { atLeast, within, ...filter } = call.body;
      const isAwaited = atLeast !== undefined || within !== undefined;
      const wait = { atLeast: atLeast ?? 1, within: within ?? (isAwaited ? 10_000 : 0) };
      const count = await countWhen(call, filter, wait);
      return json({ count, complete: call.sandbox.evidence.journal.isComplete(filter) });
    },
  }),
  endpoint('streamRequests', 'get /requests/stream', {
    summary: 'Stream exchanges',
    description: `Sends server-sent events: \`exchange\` for each exchange, and \`dropped\` with the \`count\` of exchanges that were skipped; \`hold\` with the exchange again when a reply that was held back is let go. Starts after the exchange that \`Last-Event-ID\` or \`after\` names, else with the next one. Disconnects a client that has more than 1 MiB to read; it can go on with \`Last-Event-ID\`.`,
    query: EXCHANGE_FILTER,
    replies: { 200: ANY_TEXT },
    mediaType: EVENTS,
    handle: ({ sandbox, request, query: { after, ...filter }, parts: { plain } }) => {
      const lastId = String(request.headers['last-event-id'] ?? '');
      const from = isIntegerText(lastId) ? Number(lastId) : after;
      return {
        status: 200,
        mediaType: EVENTS,
        content: (response) => openStream(response, sandbox, filter, plain, from),
      };
    },
  }),
  endpoint('getRequest', 'get /requests/{number}', {
    summary: 'Read an exchange',
    example: { path: 1 },
    replies: { 200: EXCHANGE, 404: 'The journal does not have it, or has dropped it.' },
    handle: ({ sandbox, params: { number = '' }, parts: { plain } }) => {
      const { journal } = sandbox.evidence;
      const exchange = isIntegerText(number) ? journal.at(Number(number)) : undefined;
      if (exchange !== undefined) return { status: 200, content: exchangeText(exchange, plain) };
      const [oldest, latest] = [journal.number - journal.size + 1, journal.number];
      const one = oldest === latest ? `only exchange ${latest} is` : 'none is';
      const left = oldest < latest ? `exchanges ${oldest} to ${latest} are` : one;
      const isCleared = /^[1-9]\d*$/.test(number) && Number(number) < oldest;
      const what = isCleared
        ? `exchange ${number} was cleared`
        : `there is no exchange ${describe(number)}`;
      return refuse('not_found', 404, `${what}; ${left} left`);
    },
  }),
  ...HOLD_ENDPOINTS,
  endpoint('getCoverage', 'get /coverage', {
    summary: 'Report which replies and cases the client has seen',
    query: SCOPE,
    replies: { 200: COVERAGE },
    handle: async (call) => {
      const { parts, sandbox, origin, mount } = call;
      const service = serviceUrl(origin + mount);
      const report = coverageOf(await totalsFor(call));
      const [key] = sandbox.state.settings.start.keys.valid;
      // Under --plain the server ignores `Prefer`.
      const withCurl = (it: ReplyCoverage) =>
        parts.plain && it.status !== 401 ? it : { ...it, curl: howToGet(it, service, key) };
      return json<Coverage>({
        ...report,
        documented: report.documented.map(withCurl),
        assumed: report.assumed.map(withCurl),
      });
    },
  }),
  endpoint('getFindings', 'get /findings', {
    summary: 'List what the client should not do against the real service',
    query: SCOPE,
    replies: { 200: FINDINGS },
    handle: async (call) => json<Findings>(findingsOf(await totalsFor(call))),
  }),
];

function* joined(before: string, list: Iterable<string>, after: string): Generator<string> {
  yield before;
  yield* list;
  yield after;
}

/** The exchanges that a query selects, and how many match regardless of its limit. */
function select(
  { evidence: { journal } }: Sandbox,
  { limit, order, ...filter }: ValueOf<typeof LIMITED_FILTER>,
): { readonly exchanges: readonly Exchange[]; readonly total: number } {
  const matching = [...journal.select(filter)];
  const exchanges = matching.slice(0, limit);
  if (order !== 'desc') exchanges.reverse();
  return { exchanges, total: matching.length };
}

/** The totals of the sandbox, or of all. */
async function totalsFor({
  parts: { sandboxes },
  sandbox,
  query: { all },
}: ControlCall<unknown, ValueOf<typeof SCOPE>>): Promise<Totals> {
  return all ? totalsOf(await sandboxes.load()) : sandbox.evidence.totals;
}
