import { counted } from '../../words.ts';
import { coverageOf, type Evidence, tellFound } from './run-evidence.ts';
import { renderTable } from './table.ts';
import { bold, type Style } from './terminal.ts';

const LABEL_COLUMN = 15;

/** What a command was shown and what it did, in a few lines. */
export function renderEvidence(evidence: Evidence, style: Style): string {
  const { calls, shown, notShown, assumed, findings, touched } = evidence;
  const total = shown.length + notShown.length;
  const share = `${shown.length} of ${total} documented replies (${Math.floor(coverageOf(evidence))}%)`;
  const rows = [
    ['shown', `${share} in ${counted(calls, 'call')}`],
    ...(notShown.length > 0 ? [['not shown', byOperation(notShown)]] : []),
    ...(assumed.count > 0
      ? [['assumed', `${counted(assumed.count, 'reply', 'replies')}: ${assumed.by.join(', ')}`]]
      : []),
    ...(findings.length === 0 ? [['findings', 'none']] : []),
    ...findings.map((found) => [found.kind, tellFound(found)]),
    ...(touched > 0 ? [['open questions', `${touched} touched; ${ASK_SWEEP}`]] : []),
  ];
  const table = renderTable(rows, { width: style.width, columns: [LABEL_COLUMN] });
  const hint = calls === 0 ? `  ${NEVER_CALLED}\n` : '';
  return `${bold('petstore-mock', style)}\n${table}${hint}`;
}

const ASK_SWEEP = 'petstore-mock sweep tries their other answers';
const NEVER_CALLED = 'Does the command take the base URL from PETSTORE_MOCK_URL?';

/** `listPets 200, listPets 401` as `listPets 200 401`. */
function byOperation(replies: readonly string[]): string {
  const statuses = new Map<string, string[]>();
  for (const reply of replies) {
    const [operation = '', status = ''] = reply.split(' ');
    statuses.set(operation, [...(statuses.get(operation) ?? []), status]);
  }
  return [...statuses].map(([operation, all]) => `${operation} ${all.join(' ')}`).join(', ');
}
