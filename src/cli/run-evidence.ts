import { ASSUMPTION_IDS, type AssumptionId } from '../contract/assumption-table.ts';
import type { OperationId } from '../contract/operations.ts';
import {
  type CoverageEvidence,
  describeExamples,
  type FindingGroup,
  groupFindings,
} from '../report/coverage-report.ts';
import type { FindingsReport } from '../sandbox/coverage.ts';
import type { Observer } from '../sandbox/exchange.ts';
import type { Finding } from '../sandbox/report-shapes.ts';
import { countText } from '../words.ts';
import type { Flags } from './flags.ts';
import { bold, escapeControls, renderTable, type Style } from './terminal.ts';

export const NO_CALLS =
  'the command made no call: does it take its base URL from PETSTORE_MOCK_URL? --allow-no-calls lets it pass';

const LABEL_COLUMN = 15;

const MAX_EXAMPLES = 3;

/** A kind of finding, how often it was made, and the first call that caused it. */
export interface FindingSummary {
  readonly code: string;
  readonly count: number;
  readonly example: string;
}

export function summarizeFindings(report: FindingsReport): FindingSummary[] {
  return groupFindings(report).map(({ code, count, examples: [example] }) => {
    const { method, target, message } = example?.first ?? {};
    return { code, count, example: example ? `${method} ${target}: ${message}` : code };
  });
}

/** Escaped, since a client influences it. */
function describeFindings(group: FindingGroup): string {
  const describe = ({ method, target, message }: Finding, times: string) =>
    `${method} ${target}${times}: ${message}`;
  const [texts, rest] = describeExamples(group, MAX_EXAMPLES, describe);
  const more = rest > 0 ? ` (and ${rest} more)` : '';
  return escapeControls(texts.join(' ')) + more;
}

export function renderEvidence(
  { coverage, findings }: CoverageEvidence,
  { calls, assumptions: { length: questions } }: AssumptionTracker,
  style: Style,
): string {
  const { shown, total, percent } = coverage.totals.documented;
  const missing = missingReplies(coverage);
  const ofUpstream = coverage.documented.filter((it) => it.upstream !== undefined).length;
  const replies = assumedReplies(coverage);
  const groups = groupFindings(findings);
  const share = `${shown} of ${total} documented replies (${percent}%)`;
  const operations = [...new Set(missing.map(({ operation }) => operation))];
  // `listPets 200, listPets 401` as `listPets 200 401`.
  const notShown = operations.map((id) =>
    [id, ...missing.flatMap((reply) => (reply.operation === id ? reply.status : []))].join(' '),
  );
  const rows = [
    ['shown', `${share} in ${countText(calls, 'call')}`],
    ['by upstream', ofUpstream > 0 && `${ofUpstream} of them by the deployment itself`],
    ['not shown', notShown.join(', ')],
    [
      'assumed',
      replies.count > 0 && `${countText(replies.count, 'reply', 'replies')}: ${replies.reason}`,
    ],
    ['findings', groups.length === 0 && 'none'],
    ...groups.map((group) => [group.code, describeFindings(group)] as const),
    [
      'open questions',
      questions > 0 && `${questions} touched; petstore-mock sweep tries other answers`,
    ],
  ] as const;
  const cells = rows.flatMap(([label, text]) => (text ? [[label, text]] : []));
  const table = renderTable(cells, { width: style.width, columns: [LABEL_COLUMN] });
  return `${bold('petstore-mock', style)}\n${table}`;
}

export function gateFailures(
  { requireCoverage: required = 0, failOn = [] }: Flags,
  { coverage, findings }: CoverageEvidence,
): string[] {
  const { shown, total, percent } = coverage.totals.documented;
  const missing = missingReplies(coverage).map(({ operation, status }) => `${operation} ${status}`);
  const gap = `--require-coverage: the command was shown ${percent}% of the documented replies, not ${required}%; missing: ${missing.join(', ')}`;
  const kinds = [
    assumedReplies(coverage),
    ...groupFindings(findings).map((group) => ({ ...group, reason: describeFindings(group) })),
  ].filter(({ code, count }) => count > 0 && failOn.some((kind) => kind === code));
  return [
    ...((100 * shown) / total < required ? [gap] : []),
    ...kinds.map(({ code, count, reason }) => {
      return `--fail-on ${code}: ${countText(count, 'time')}: ${reason}`;
    }),
  ];
}

function missingReplies({ documented }: CoverageEvidence['coverage']) {
  return documented.filter(({ count }) => count === 0);
}

function assumedReplies({ assumed }: CoverageEvidence['coverage']) {
  const by = new Set(assumed.flatMap((reply) => reply.by ?? []));
  // What a deployment answers is no assumption.
  const total = assumed.reduce((sum, { count, upstream = 0 }) => sum + count - upstream, 0);
  return { code: 'assumed', count: total, reason: [...by].join(', ') };
}

/** Which assumptions could have changed what a run was shown. */
export class AssumptionTracker {
  readonly #signs = new Set<string>();
  #calls = 0;

  readonly observe: Observer = (_sandbox, { operation, status, basis }) => {
    this.#calls += 1;
    const signs: Sign[] = ['a call'];
    if (operation !== undefined) signs.push(operation, `${operation} ${status ?? 0}`);
    if (status === 401 || status === 409) signs.push(`a ${status}`);
    if (status !== undefined && status >= 400) signs.push('an error');
    if (status !== undefined && status !== 204) signs.push('a body');
    for (const sign of signs) this.#signs.add(sign);
    if (basis.kind !== 'assumed') return;
    for (const by of basis.by) this.#signs.add(by.slice(0, by.indexOf('=')));
  };

  get calls(): number {
    return this.#calls;
  }

  /** The assumptions whose other options could have changed what the client was shown. */
  get assumptions(): AssumptionId[] {
    return ASSUMPTION_IDS.filter((id) =>
      [id, ...(SIGNS[id] ?? [])].some((all) => [all].flat().every((sign) => this.#signs.has(sign))),
    );
  }
}

/** Something that a run saw. The id of an assumption means a reply whose status it decided. */
type Sign =
  | OperationId
  | `${OperationId} ${number}`
  | `a ${'call' | 'body' | 401 | 409}`
  | 'an error'
  | AssumptionId;

/** Any of these signs; a nested list requires all of its signs. */
type Signs = readonly (Sign | readonly Sign[])[];

/**
 * The signs of assumptions: replies that would differ under another option. A reply whose status the
 * assumption decided is a sign of each.
 *
 * `check-order` and `rate-limit` have no other sign, although they could replace a documented reply:
 * a client may rely on documented replies, and the number of calls in a second depends on the machine.
 */
const SIGNS: Partial<Record<AssumptionId, Signs>> = {
  'animal-status-values': ['status-filter'],
  'pets-order': ['listPets 200'],
  'pets-paging': ['listPets 200'],
  'created-status': ['createPet 201'],
  'assigned-ids': ['createPet 201'],
  'deprecation-headers': ['getPet'],
  'inventory-on-create': [
    ['createPet 201', 'listInventory'],
    ['createPet 201', 'updateInventory'],
  ],
  'inventory-status': ['updateInventory 200'],
  'animal-follows-stock': [
    ['updateInventory 200', 'listPets'],
    ['updateInventory 200', 'getPet'],
  ],
  'order-status-field': ['listOrders 200'],
  'cancelled-orders': ['listOrders 200'],
  'conflict-body': ['a 409'],
  'order-shipping': ['listOrders 200'],
  'cancel-restocks': [['cancelOrder 204', 'listInventory']],
  'auth-challenge': ['a 401'],
  'error-codes': ['an error'],
  'absent-optionals': ['listPets 200', 'listOrders 200', 'createPet 201', 'getPet 200'],
  'date-format': ['listOrders 200'],
  'json-charset': ['a body'],
  cors: ['a call'],
};
