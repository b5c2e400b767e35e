import type { Exchange } from './exchange.ts';
import { FINDING_CODE_NAMES, FINDING_CODES, type FindingCode } from './finding-codes.ts';
import type { Finding, ShownCount } from './report-shapes.ts';

/** Findings kept of each sandbox, and of many together: there can be thousands. */
const MOST = 100;
const MOST_TOGETHER = 1000;

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** How many findings have a code. */
type FindingCounts = { readonly [Code in FindingCode]?: number };

/** What clients were shown and did, as JSON. */
export interface TotalsState {
  /** Counts of replies and cases, by coverage key. */
  readonly shown: readonly (readonly [key: string, shown: ShownCount])[];
  readonly counts: FindingCounts;
  /** The first ones; `counts` includes those that are not kept. */
  readonly findings: readonly Finding[];
}

/** What clients were shown and did, in one sandbox or in several. */
export class Totals implements TotalsState {
  readonly #shown = new Map<string, Mutable<ShownCount>>();
  readonly counts: Mutable<FindingCounts> = {};
  // Grows by `concat`: `push` would reserve room for 16 more, and there can be many sandboxes.
  findings: readonly Finding[] = NONE;

  constructor(state?: TotalsState) {
    if (state !== undefined) this.merge(state);
  }

  get shown(): TotalsState['shown'] {
    return [...this.#shown];
  }

  /** How often the reply or the case with a coverage key was shown. */
  at(key: string): ShownCount {
    return this.#shown.get(key) ?? { count: 0 };
  }

  hasShown(key: string): boolean {
    return this.#shown.has(key);
  }

  /**
   * Counts what an exchange showed, a case once, and what its client did.
   *
   * @returns the findings that are new to a report
   */
  add(exchange: Exchange, sandbox: string): readonly Finding[] {
    const { number, operation, shows, basis, findings } = exchange;
    for (let at = 0; at < shows.length; at += 1) {
      const key = shows[at] ?? '';
      let known = this.#shown.get(key);
      if (known === undefined) {
        known = { count: 0, first: { sandbox, exchange: number } };
        this.#shown.set(key, known);
      } else if (at > 0) continue;
      known.count += 1;
      if (basis.kind === 'assumed') known.by = union(known.by, basis.by);
      if (basis.kind === 'upstream' && at === 0) known.upstream = (known.upstream ?? 0) + 1;
    }
    if (findings.length === 0) return NONE;
    const { method, target } = exchange;
    const added: Finding[] = [];
    for (const { code, message } of findings) {
      const count = this.counts[code] ?? 0;
      this.counts[code] = count + 1;
      // What every call of an operation causes is kept once.
      if (count > 0 && (code === 'deprecated' || code === 'experimental')) continue;
      const at = new Date(exchange.at).toISOString();
      const call = { sandbox, exchange: number, operation, method, target, at };
      added.push({ code, ...call, message, advice: FINDING_CODES[code] });
    }
    const room = Math.max(0, MOST - this.findings.length);
    if (added.length > 0) this.findings = this.findings.concat(added.slice(0, room));
    return added;
  }

  /** Adds the totals of another sandbox. */
  merge({ shown, counts, findings }: TotalsState): void {
    for (const [key, more] of shown) {
      const known = this.#shown.get(key);
      if (known === undefined) this.#shown.set(key, { ...more });
      else {
        known.count += more.count;
        if (more.by !== undefined) known.by = union(known.by, more.by);
        if (more.upstream !== undefined) known.upstream = (known.upstream ?? 0) + more.upstream;
      }
    }
    for (const code of FINDING_CODE_NAMES) {
      const count = counts[code];
      if (count !== undefined) this.counts[code] = (this.counts[code] ?? 0) + count;
    }
    this.findings = this.findings.concat(findings).slice(0, MOST_TOGETHER);
  }

  toJSON(): TotalsState {
    return { shown: this.shown, counts: this.counts, findings: this.findings };
  }
}

const NONE: readonly never[] = [];

/** The earlier list itself if the later one adds nothing, so that equal lists share memory. */
function union(earlier: readonly string[] = NONE, later: readonly string[]): readonly string[] {
  return later.every((it) => earlier.includes(it)) ? earlier : [...new Set([...earlier, ...later])];
}
