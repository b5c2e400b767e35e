import { FINDING_CODE_NAMES } from '../../evidence/findings.ts';
import { describe, listed, suggest } from '../../words.ts';
import { coverageOf, type Evidence } from '../output/run-evidence.ts';
import { givenAs, type Layers, listOf, refusal, textOf } from './given.ts';

/** What a command's run must reach, and what must not be found in it. */
export interface Gates {
  /** Percent of the documented replies. */
  readonly coverage: number | undefined;
  readonly failOn: readonly string[];
}

/** What a run can be failed on: a kind of finding, or that any reply was assumed. */
const KINDS = ['assumed', ...FINDING_CODE_NAMES];

/** @throws UsageError where a gate is misspelt, so that none is open by mistake */
export function gatesOf(layers: Layers): Gates {
  return { coverage: requiredCoverage(layers), failOn: failOnOf(layers) };
}

function requiredCoverage(layers: Layers): number | undefined {
  const text = textOf(layers, 'require-coverage');
  if (text === undefined) return undefined;
  if (text === 'documented') return 100;
  const [, percent] = /^(\d{1,3}(?:\.\d+)?)%$/.exec(text) ?? [];
  if (percent !== undefined && Number(percent) <= 100) return Number(percent);
  throw refusal(
    givenAs(layers, 'require-coverage')?.origin ?? 'require-coverage',
    'documented, or a percentage from 0% to 100%',
    `${describe(text)}${suggest(text, ['documented'])}`,
  );
}

function failOnOf(layers: Layers): string[] {
  const kinds = (listOf(layers, 'fail-on') ?? []).flatMap((text) => text.split(','));
  return kinds.map((text) => {
    const kind = KINDS.find((it) => it === text.trim());
    if (kind !== undefined) return kind;
    const origin = givenAs(layers, 'fail-on')?.origin ?? 'fail-on';
    throw refusal(origin, listed(KINDS, 'or'), `${describe(text)}${suggest(text, KINDS)}`);
  });
}

/** Why a run does not pass; nothing where it does. */
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
