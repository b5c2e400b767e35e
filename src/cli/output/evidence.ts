import type { FindingsReport } from '../../evidence/findings.ts';
import { type Evidence, findingKinds } from '../../report/coverage-report.ts';
import { counted } from '../../words.ts';
import type { Flags } from '../flags.ts';
import type { AssumptionTracker } from '../sweep/assumption-tracker.ts';
import { escaped } from './escaped.ts';
import { renderTable } from './table.ts';
import { bold, type Style } from './terminal.ts';

/** The question for a command that made no call. */
export const NEVER_CALLED = 'Does the command take its base URL from PETSTORE_MOCK_URL?';

const LABEL_COLUMN = 15;

/** A kind of finding, how often it was made, and one exchange that caused it. */
export interface Found {
  readonly code: string;
  readonly count: number;
  readonly example: string;
}

export function foundIn(report: FindingsReport): Found[] {
  return findingKinds(report).map(({ code, count, kept: [first] }) => ({
    code,
    count,
    example: first === undefined ? code : `${first.method} ${first.target}: ${first.message}`,
  }));
}

/** One example, escaped since a client influences it, and how many more there are. */
export function tellFound({ count, example }: Found): string {
  return count === 1 ? escaped(example) : `${escaped(example)} (and ${count - 1} more)`;
}

/** What a command was shown of the service, and what it did wrong. */
export function renderEvidence(
  { coverage, findings }: Evidence,
  { calls, assumptions }: AssumptionTracker,
  style: Style,
): string {
  const { shown, total, percent } = coverage.totals.documented;
  const questions = assumptions.length;
  const missing = missingReplies(coverage);
  const ofUpstream = coverage.documented.filter((it) => it.upstream !== undefined).length;
  const assumed = assumedReplies(coverage);
  const found = foundIn(findings);
  const share = `${shown} of ${total} documented replies (${percent}%)`;
  const rows = [
    ['shown', `${share} in ${counted(calls, 'call')}`],
    ...(ofUpstream > 0 ? [['by upstream', `${ofUpstream} of them by the deployment itself`]] : []),
    ...(missing.length > 0 ? [['not shown', byOperation(missing)]] : []),
    ...(assumed.count > 0
      ? [['assumed', `${counted(assumed.count, 'reply', 'replies')}: ${assumed.by}`]]
      : []),
    ...(found.length === 0 ? [['findings', 'none']] : []),
    ...found.map((it) => [it.code, tellFound(it)]),
    ...(questions > 0
      ? [['open questions', `${questions} touched; petstore-mock sweep tries other answers`]]
      : []),
  ];
  const table = renderTable(rows, { width: style.width, columns: [LABEL_COLUMN] });
  const hint = calls === 0 ? `  ${NEVER_CALLED}\n` : '';
  return `${bold('petstore-mock', style)}\n${table}${hint}`;
}

/** Why a run does not pass; empty if it does. */
export function judge(
  { requireCoverage: required = 0, failOn = [] }: Flags,
  { coverage, findings }: Evidence,
): string[] {
  const reasons: string[] = [];
  const { shown, total, percent } = coverage.totals.documented;
  if ((100 * shown) / total < required) {
    const missing = missingReplies(coverage).map((it) => `${it.operation} ${it.status}`);
    reasons.push(
      `--require-coverage: the command was shown ${percent}% of the documented replies, not ${required}%; missing: ${missing.join(', ')}`,
    );
  }
  const { count, by } = assumedReplies(coverage);
  const kinds = [
    ...(count > 0 ? [{ code: 'assumed', count, told: by }] : []),
    ...foundIn(findings).map(({ code, count, example }) => ({ code, count, told: example })),
  ];
  for (const { code, count, told } of kinds) {
    if (failOn.some((it) => it === code)) {
      reasons.push(`--fail-on ${code}: ${counted(count, 'time')}: ${told}`);
    }
  }
  return reasons;
}

function missingReplies({ documented }: Evidence['coverage']) {
  return documented.filter(({ count }) => count === 0);
}

function assumedReplies({ assumed }: Evidence['coverage']): { count: number; by: string } {
  const by = new Set(assumed.flatMap((reply) => reply.by ?? []));
  // What a deployment answers is no assumption.
  const count = assumed.reduce((sum, it) => sum + it.count - (it.upstream ?? 0), 0);
  return { count, by: [...by].join(', ') };
}

/** `listPets 200, listPets 401` as `listPets 200 401`. */
function byOperation(replies: ReturnType<typeof missingReplies>): string {
  const operations = [...new Set(replies.map(({ operation }) => operation))];
  const statusesOf = (id: string) =>
    replies.flatMap((it) => (it.operation === id ? it.status : []));
  return operations.map((id) => `${id} ${statusesOf(id).join(' ')}`).join(', ');
}
