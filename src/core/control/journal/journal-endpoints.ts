import { DATE_TIME } from '../../contract/date-time.ts';
import { outcome } from '../../sandbox/answer.ts';
import {
  createCoverageReport,
  createFindingsReport,
  howToGet,
  type Totals,
} from '../../sandbox/coverage.ts';
import type { Edit } from '../../sandbox/edit-log.ts';
import { EXCHANGE_FILTER, FILTER_MEMBERS } from '../../sandbox/exchange-filter.ts';
import type { JournalPage } from '../../sandbox/journal-page.ts';
import type { JournalReader } from '../../sandbox/persistence.ts';
import {
  CLOCK_MOVED,
  COUNT,
  coverageShape,
  FINDING,
  FINDING_CODE_NAMES,
  ofCollections,
  REPLY_MEMBERS,
  type ReplyCoverage,
} from '../../sandbox/report-shapes.ts';
import { WAIT_TIME } from '../../service/settings-shapes.ts';
import { namedObject, object, optional, required } from '../../shape/objects.ts';
import {
  ANY_TEXT,
  choice,
  FLAG,
  type InputOf,
  list,
  named,
  type ValueOf,
} from '../../shape/shapes.ts';
import { listText } from '../../store/store-text.ts';
import { type ControlCall, endpoint, findServiceUrl } from '../endpoint.ts';
import { ANY_OBJECT, json, NO_CONTENT } from '../reply.ts';
import { HOLD_ENDPOINTS } from './hold-endpoints.ts';
import { EXCHANGE, formatExchange } from './recorded-exchange.ts';
import { PAST_STATE_ENDPOINTS, withExchange } from './time-travel-endpoints.ts';

const EDIT = namedObject('Edit', {
  number: required(COUNT, 'Its number among the changes of the sandbox.'),
  after: required(COUNT, 'The number of the exchange before it.'),
  at: required(DATE_TIME, "When it was made, by the sandbox's clock."),
  clockMoved: CLOCK_MOVED,
  what: required(ANY_TEXT, 'What was changed, in words.'),
  by: required(ANY_TEXT, 'Who changed it: what the header `Mock-Client` says.'),
  changed: required(
    object(ofCollections(COUNT, 'How many', 'it changed')),
    'How many records it changed.',
  ),
  isUndone: required(FLAG, 'Whether it was undone, or is itself an undo.'),
});
/** A change that the control API made, as the journal shows it. */
export type EditView = InputOf<typeof EDIT>;

const JOURNAL = namedObject('Journal', {
  exchanges: required(list(EXCHANGE), 'The latest exchanges that match, in the given order.'),
  edits: optional(list(EDIT), 'With `edits=true`, the changes by the control API, oldest first.'),
  dropped: required(COUNT, 'How many exchanges are no longer kept.'),
  total: required(COUNT, 'How many match, regardless of the limit.'),
});

const EXCHANGE_COUNT = namedObject('ExchangeCount', {
  count: required(COUNT, 'How many exchanges match.'),
  complete: required(FLAG, 'False if a dropped exchange could have matched.'),
});

const REPLY_COVERAGE = object({
  ...REPLY_MEMBERS,
  curl: optional(
    ANY_TEXT,
    'A curl command that gets it. Left out under --plain if it needs `Prefer`.',
  ),
});

const COVERAGE = named('Coverage', coverageShape(REPLY_COVERAGE));
type Coverage = InputOf<typeof COVERAGE>;

const FINDINGS = namedObject('Findings', {
  total: required(COUNT, 'How many there are, including those that are not kept.'),
  counts: required(
    object(
      Object.fromEntries(
        FINDING_CODE_NAMES.map((code) => [code, optional(COUNT, `How many are ${code}.`)]),
      ),
    ),
    'How many there are of each code, including those that are not kept.',
  ),
  findings: required(list(FINDING), 'The findings that are kept.'),
});
type Findings = InputOf<typeof FINDINGS>;

export const AWAITED_FILTER = namedObject('ExchangeFilter', {
  ...FILTER_MEMBERS,
  atLeast: optional(COUNT, 'Wait until this many exchanges match; 1 by default.'),
  within: optional(
    WAIT_TIME,
    'The longest wait, in real time, up to `PT60S`; `PT10S` by default with `atLeast`.',
  ),
});

const LIMITED_FILTER = object({
  ...FILTER_MEMBERS,
  limit: optional(COUNT, 'Return only this many of the latest exchanges.'),
  edits: optional(FLAG, 'Also the changes that the control API made.'),
  order: optional(choice(['asc', 'desc']), '`desc` lists the newest first; `asc` is the default.'),
});

export const HAR_FILTER = object({
  ...LIMITED_FILTER.members,
  all: optional(FLAG, 'Export those of each sandbox that exists.'),
});

export const EVENT_STREAM = 'text/event-stream';

const TOO_MANY_LISTENERS = 'Too many streams and waiting counts are open in the sandbox.';

const SCOPE = object({
  all: optional(FLAG, 'Report on all sandboxes, including deleted ones and what a reset cleared.'),
});

export const JOURNAL_ENDPOINTS = [
  endpoint('listRequests', 'GET /requests', {
    summary: 'List exchanges, by default the newest last',
    description: 'For the previous page, set `before` to the lowest number of this one.',
    query: LIMITED_FILTER,
    replies: { 200: JOURNAL },
    handle: async ({ sandbox, journal, query }) => {
      const { exchanges, total, dropped } = await readOrdered(journal, query);
      const texts = listText(exchanges, formatExchange);
      const edits = query.edits ? sandbox.journal.edits.list().map(showEdit) : undefined;
      const counts = `"dropped":${dropped},"total":${total}`;
      const rest = edits === undefined ? '' : `"edits":${JSON.stringify(edits)},`;
      const content = joinParts('{"exchanges":', texts, `,${rest}${counts}}`);
      return { status: 200, content };
    },
  }),
  endpoint('exportRequests', 'GET /requests.har', {
    summary: 'Export exchanges as HAR 1.2',
    description:
      'Selects exchanges as `GET requests` does. Credentials are masked, and bodies that the journal kept only in part are marked.',
    query: HAR_FILTER,
    replies: { 200: ANY_OBJECT },
  }),
  endpoint('deleteRequests', 'DELETE /requests', {
    summary: 'Clear the journal',
    replies: { 204: 'Cleared.' },
    handle: ({ sandbox, parts }) =>
      parts.persistence.keep(sandbox, () => ({
        ...outcome(sandbox.read().state, NO_CONTENT),
        clears: 'journal',
      })),
  }),
  endpoint('countRequests', 'POST /requests/count', {
    summary: 'Count exchanges',
    description:
      'With `atLeast` or `within`, waits until that many match, or the time is over. `complete` is false if an exchange that is no longer kept could have matched.',
    body: { shape: AWAITED_FILTER, optional: true },
    example: { body: { operation: 'cancelOrder' } },
    replies: { 200: EXCHANGE_COUNT, 409: TOO_MANY_LISTENERS },
  }),
  endpoint('streamRequests', 'GET /requests/stream', {
    summary: 'Stream exchanges',
    description: `Sends server-sent events: \`exchange\` for each exchange, and \`dropped\` with the \`count\` of exchanges that were skipped; \`hold\` with the exchange again when a held reply is released. Starts after the exchange that \`Last-Event-ID\` or \`after\` names, else with the next one. A client that reads slowly gets \`dropped\` for what the journal has dropped meanwhile.`,
    query: EXCHANGE_FILTER,
    replies: { 200: ANY_TEXT, 409: TOO_MANY_LISTENERS },
    mediaType: EVENT_STREAM,
  }),
  endpoint('getRequest', 'GET /requests/{number}', {
    summary: 'Read an exchange',
    example: { path: 1 },
    replies: { 200: EXCHANGE, 404: 'The journal does not have it, or has dropped it.' },
    handle: withExchange(async (_call, exchange) => {
      return { status: 200, content: formatExchange(exchange) };
    }),
  }),
  ...PAST_STATE_ENDPOINTS,
  ...HOLD_ENDPOINTS,
  endpoint('getCoverage', 'GET /coverage', {
    summary: 'Report which replies the client has seen',
    query: SCOPE,
    replies: { 200: COVERAGE },
    handle: async (call) => {
      const { parts, sandbox, origin, mount } = call;
      const service = findServiceUrl(origin + mount);
      const report = createCoverageReport(await readTotals(call));
      const [key] = sandbox.state.settings.keys.valid;
      // Under --plain, requests cannot force a reply: the server ignores `Prefer`.
      const withCurl = (reply: ReplyCoverage) =>
        parts.sandboxes.options.plain && reply.status !== 401
          ? reply
          : { ...reply, curl: howToGet(reply, service, key) };
      return json<Coverage>({
        ...report,
        documented: report.documented.map(withCurl),
        assumed: report.assumed.map(withCurl),
      });
    },
  }),
  endpoint('getFindings', 'GET /findings', {
    summary: 'List what the client should not do against the real service',
    query: SCOPE,
    replies: { 200: FINDINGS },
    handle: async (call) => json<Findings>(createFindingsReport(await readTotals(call))),
  }),
];

function showEdit({ at, ...edit }: Edit): EditView {
  return { ...edit, at: new Date(at).toISOString() };
}

function* joinParts(before: string, list: Iterable<string>, after: string): Generator<string> {
  yield before;
  yield* list;
  yield after;
}

export async function readOrdered(
  journal: JournalReader,
  { limit, order, edits: _, ...filter }: ValueOf<typeof LIMITED_FILTER>,
): Promise<JournalPage> {
  const page = await journal.select({ filter, limit });
  return order === 'desc' ? page : { ...page, exchanges: page.exchanges.toReversed() };
}

async function readTotals({
  parts: { persistence },
  journal,
  query: { all },
}: ControlCall<unknown, ValueOf<typeof SCOPE>>): Promise<Totals> {
  return all ? persistence.totals() : journal.totals();
}
