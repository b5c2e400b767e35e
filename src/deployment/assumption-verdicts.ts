import { ASSUMPTION_IDS, type AssumptionId } from '../contract/assumption-table.ts';
import { listed } from '../words.ts';
import { ASKS, type AskName } from './asks.ts';
import { probeOf } from './probe-table.ts';
import { isBreak, replyDifferences } from './reply-differences.ts';
import type { Exchange, Seen } from './seen.ts';

/** What a check found out about an assumption. */
export interface AssumptionVerdict {
  readonly id: AssumptionId;
  readonly verdict: 'settled' | 'none-of-the-options' | 'open';
  /** Defined if it is settled. */
  readonly option?: string;
  /** The exchanges that show it, what was seen instead, or what is needed. */
  readonly why?: string;
}

/** Judges every assumption by what was seen. */
export function assumptionVerdicts(seen: Seen): AssumptionVerdict[] {
  return ASSUMPTION_IDS.map((id) => ({ id, ...judged(id, seen) }));
}

function judged(id: AssumptionId, seen: Seen): Omit<AssumptionVerdict, 'id'> {
  const probe = probeOf(id);
  if ('impossible' in probe) return { verdict: 'open', why: probe.impossible };
  const { asks, any, also = [], obstacle, options, other, saw } = probe;
  const unanswered = asks.filter((name) => seen.get(name) === undefined);
  const isMissing = any ? unanswered.length === asks.length : unanswered.length > 0;
  if (isMissing) return { verdict: 'open', why: whyUnanswered(unanswered, any, seen) };
  const isUnaffected = [...asks, ...also].some((name) => seen.unaffected.has(name));
  if (isUnaffected && seen.stale !== undefined) {
    return { verdict: 'open', why: `a read may not show what was written: ${seen.stale}` };
  }
  const why = obstacle?.(seen);
  if (why !== undefined) return { verdict: 'open', why };
  let names: string[] = [];
  const failures = seen.failuresBehind(() => {
    names = Object.keys(options).filter((name) => options[name]?.(seen));
  });
  const [option = other?.(seen), second] = names;
  const exchanges = seen.all(...asks, ...also);
  const sent = [...new Set(exchanges.map(String))].join('; ');
  const shown = saw?.(seen) ?? sent;
  if (option === undefined && exchanges.some(isBroken)) {
    return { verdict: 'open', why: `the replies break the document: ${sent}` };
  }
  if (option === undefined && failures.length > 0) {
    return { verdict: 'open', why: failures.join('; ') };
  }
  if (option === undefined) return { verdict: 'none-of-the-options', why: shown };
  if (second === undefined) return { verdict: 'settled', option, why: sent };
  return { verdict: 'open', why: `${listed(names, 'and')} would both answer so: ${shown}` };
}

function isBroken(exchange: Exchange): boolean {
  const { operation } = ASKS[exchange.name];
  return operation !== undefined && replyDifferences(exchange, operation).some(isBreak);
}

function whyUnanswered(names: readonly AskName[], any: true | undefined, seen: Seen): string {
  const failures = names.flatMap((name) => seen.failureOf(name) ?? []);
  const needs = names.map((name) => seen.needsOf(name)).filter(({ length }) => length > 0);
  const needed = any
    ? listed([...new Set(needs.map((way) => listed(way, 'and')))], 'or')
    : listed([...new Set(needs.flat())], 'and');
  return [...new Set([...failures, ...(needed === '' ? [] : [`it needs ${needed}`])])].join('; ');
}
