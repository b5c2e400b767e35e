import { describe, suggest } from '../../words.ts';
import { FAILING_KINDS } from '../flags/flag-table.ts';
import { coverageOf, type Evidence } from '../output/run-evidence.ts';
import { type Layers, listOf, oneOf, originOf, refusal, textOf } from './given.ts';

/** What a run must reach, and which findings fail it. */
export interface Gates {
  /** Percent of the documented replies. */
  readonly coverage: number | undefined;
  readonly failOn: readonly string[];
}

/** @throws UsageError if a gate is misspelt, so that none is left open by mistake */
export function gatesOf(layers: Layers): Gates {
  return { coverage: requiredCoverage(layers), failOn: failOnOf(layers) };
}

function requiredCoverage(layers: Layers): number | undefined {
  const text = textOf(layers, 'require-coverage');
  if (text === undefined) return undefined;
  if (text === 'documented') return 100;
  // Without the sign only whole numbers: 0.8 could mean 80%.
  const [, percent] = /^(\d{1,3}|\d{1,3}\.\d+(?=%))%?$/.exec(text) ?? [];
  if (percent !== undefined && Number(percent) <= 100) return Number(percent);
  throw refusal(
    originOf(layers, 'require-coverage'),
    'a percentage from 0% to 100%, or documented',
    `${describe(text)}${suggest(text, ['documented'])}`,
  );
}

function failOnOf(layers: Layers): string[] {
  const kinds = (listOf(layers, 'fail-on') ?? []).flatMap((text) => text.split(','));
  return kinds.map((text) => oneOf(FAILING_KINDS, text.trim(), originOf(layers, 'fail-on')));
}

/** Why a run does not pass; empty if it does. */
export function judge({ coverage, failOn }: Gates, evidence: Evidence): string[] {
  const reasons: string[] = [];
  const reached = coverageOf(evidence);
  if (coverage !== undefined && reached < coverage) {
    const missing = evidence.notShown.join(', ');
    reasons.push(
      `--require-coverage: ${Math.floor(reached)}% of the documented replies were shown, not ${coverage}%: missing ${missing}`,
    );
  }
  const { assumed, findings } = evidence;
  if (failOn.includes('assumed') && assumed.count > 0) {
    reasons.push(`--fail-on assumed: ${times(assumed.count)}: ${assumed.by.join(', ')}`);
  }
  for (const { kind, count, example } of findings) {
    if (failOn.includes(kind)) reasons.push(`--fail-on ${kind}: ${times(count)}: ${example}`);
  }
  return reasons;
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
