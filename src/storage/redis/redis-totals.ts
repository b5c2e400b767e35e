import type { Exchange } from '../../sandbox/exchange.ts';
import { FINDING_CODES, type FindingCode } from '../../sandbox/finding-codes.ts';
import type { Finding } from '../../sandbox/report-shapes.ts';
import { Totals } from '../../sandbox/totals.ts';

/** What the scripts count of an exchange: equal ones are one field. */
interface Shown {
  readonly shows: readonly string[];
  readonly by?: readonly string[];
  readonly upstream?: true;
  readonly codes: readonly FindingCode[];
}

/** The parts of a finding that its place does not have. */
type FindingJson = Omit<Finding, 'sandbox' | 'exchange' | 'advice'>;

/** What exchanges add to the totals of a sandbox, as the scripts take it. */
export function tally(name: string, exchanges: readonly Exchange[]) {
  const findings: (readonly [index: number, once: string, json: string])[] = [];
  const shown = exchanges.map((exchange, before) => {
    const { shows, basis, operation, method, target } = exchange;
    const codes: FindingCode[] = [];
    for (const { code, message } of exchange.findings) {
      if (operation === undefined) break;
      codes.push(code);
      const at = new Date(exchange.at).toISOString();
      const json: FindingJson = { code, operation, method, target, at, message };
      // What every call of an operation causes is kept once.
      const once = code === 'deprecated' || code === 'experimental' ? code : '';
      findings.push([before + 1, once, JSON.stringify(json)]);
    }
    const by = basis.kind === 'assumed' && { by: basis.by };
    const key: Shown = {
      shows,
      ...by,
      ...(basis.kind === 'upstream' && { upstream: true }),
      codes,
    };
    return JSON.stringify(key);
  });
  return { name, shown, findings };
}

/** A place, and the finding there. */
const PLACED = /^(.*?)\/(\d+)(?:\/(\d+)\/(.*))?$/s;

/** Reads totals: fields and values in turn. */
export function readTotals(fields: readonly string[]): Totals {
  const values = new Map(
    fields.flatMap((field, at) => (at % 2 ? [] : [[field, fields[at + 1] ?? '']])),
  );
  const placed = [...values].filter(([field]) => !field.startsWith('s:'));
  const entries = placed.map(([field, value]) => {
    const [, sandbox = '', exchange, index, json = ''] = PLACED.exec(value) ?? [];
    return { field, sandbox, exchange: Number(exchange), index: Number(index ?? 0), json };
  });
  entries.sort((one, other) => one.exchange - other.exchange || one.index - other.index);
  const totals = new Totals();
  for (const { field, sandbox, exchange, json } of entries) {
    if (field.startsWith('f:')) {
      const key = field.slice(2);
      const { shows, by, upstream, codes }: Shown = JSON.parse(key);
      const count = Number(values.get(`s:${key}`));
      const first = { sandbox, exchange };
      const reply = { count, first, ...(by && { by }), ...(upstream && { upstream: count }) };
      // A case is counted once.
      const shown = shows
        .filter((name, at) => at === 0 || !totals.hasShown(name))
        .map((name) => [name, name === shows[0] ? reply : { count: 1, first }] as const);
      const counts = Object.fromEntries(codes.map((code) => [code, count]));
      totals.merge({ shown, counts, findings: [] });
    } else {
      const found: FindingJson = JSON.parse(json);
      const finding = { ...found, sandbox, exchange, advice: FINDING_CODES[found.code] };
      totals.merge({ shown: [], counts: {}, findings: [finding] });
    }
  }
  return totals;
}
