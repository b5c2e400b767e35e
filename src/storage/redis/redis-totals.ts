import type { Exchange } from '../../sandbox/exchange.ts';
import { FINDING_CODE_NAMES, FINDING_CODES } from '../../sandbox/finding-codes.ts';
import type { Finding, ShownCount } from '../../sandbox/report-shapes.ts';
import { Totals } from '../../sandbox/totals.ts';

/** What exchanges add to the totals of a sandbox, as the scripts count it. */
export interface Tally {
  readonly name: string;
  /** By how much to raise which fields. */
  readonly counts: Record<string, number>;
  /** Fields that name the first exchange, with its index from 1. */
  readonly firsts: (readonly [field: string, index: number])[];
  /** Findings, those that every call of an operation causes once. */
  readonly findings: (readonly [code: string, isOnce: boolean, index: number, json: string])[];
}

/** The parts of a finding that its field does not have. */
type FindingJson = Omit<Finding, 'sandbox' | 'exchange' | 'advice'>;

export function tally(name: string, exchanges: readonly Exchange[]): Tally {
  const { counts, firsts, findings }: Tally = { name, counts: {}, firsts: [], findings: [] };
  const raise = (field: string) => {
    counts[field] = (counts[field] ?? 0) + 1;
  };
  for (const [before, exchange] of exchanges.entries()) {
    const { shows, basis, operation, method, target } = exchange;
    const [reply] = shows;
    if (reply !== undefined) {
      raise(`s:${reply}`);
      if (basis.kind === 'upstream') raise(`u:${reply}`);
      const options = basis.kind === 'assumed' ? basis.by : [];
      // A case is counted once, by its first exchange.
      const fields = [
        ...shows.map((key) => `f:${key}`),
        ...options.map((it) => `b:${reply}|${it}`),
      ];
      for (const field of fields) firsts.push([field, before + 1]);
    }
    if (operation === undefined) continue;
    for (const { code, message } of exchange.findings) {
      const at = new Date(exchange.at).toISOString();
      const json: FindingJson = { code, operation, method, target, at, message };
      const isOnce = code === 'deprecated' || code === 'experimental';
      findings.push([code, isOnce, before + 1, JSON.stringify(json)]);
    }
  }
  return { name, counts, firsts, findings };
}

/** Reads totals: fields and values in turn. */
export function readTotals(fields: readonly string[]): Totals {
  const shown = new Map<string, { -readonly [Member in keyof ShownCount]: ShownCount[Member] }>();
  const counts: { -readonly [Code in keyof Totals['counts']]: Totals['counts'][Code] } = {};
  const findings: (readonly [exchange: number, index: number, finding: Finding])[] = [];
  const numbers = new Map<string, number>();
  for (let at = 0; at < fields.length; at += 2) {
    const [field = '', value = ''] = fields.slice(at, at + 2);
    const name = field.slice(2);
    const [key = '', option = ''] = name.split('|');
    if (field.startsWith('F:')) {
      const [sandbox = '', exchange, index] = name.split('/');
      const json: FindingJson = JSON.parse(value);
      const advice = FINDING_CODES[json.code];
      const finding = { ...json, sandbox, exchange: Number(exchange), advice };
      findings.push([finding.exchange, Number(index), finding]);
      continue;
    }
    numbers.set(field, Number(value));
    if (field.startsWith('c:')) continue;
    const known = shown.get(key) ?? { count: 0 };
    shown.set(key, known);
    if (field.startsWith('s:')) known.count = Number(value);
    else if (field.startsWith('u:')) known.upstream = Number(value);
    else if (field.startsWith('b:')) known.by = [...(known.by ?? []), option].sort();
    else {
      const [sandbox = '', exchange] = value.split('/');
      known.first = { sandbox, exchange: Number(exchange) };
      known.count = Math.max(known.count, 1);
    }
  }
  for (const code of FINDING_CODE_NAMES) {
    const count = numbers.get(`c:${code}`);
    if (count !== undefined) counts[code] = count;
  }
  findings.sort(([one, first], [other, second]) => one - other || first - second);
  return new Totals({ shown: [...shown], counts, findings: findings.map(([, , it]) => it) });
}

/** The same totals for MERGE, which adds cases up. */
export function pastTotals(fields: readonly string[]): readonly string[] {
  const cases = fields.filter(
    (field, at) =>
      at % 2 === 0 && field.startsWith('f:') && !fields.includes(`s:${field.slice(2)}`),
  );
  return [...fields, ...cases.flatMap((field) => [`s:${field.slice(2)}`, '1'])];
}
