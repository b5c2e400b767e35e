import { FINDING_CODE_NAMES } from '../core/sandbox/report-shapes.ts';
import { choice, list } from '../core/shape/shapes.ts';

/** What can fail a run or a test: kinds of replies, `findings` for any finding, or one kind of them. */
export const FAILING_KINDS = [
  'assumed',
  'off-contract',
  'findings',
  ...FINDING_CODE_NAMES,
] as const;

export const FAIL_ON = list(choice(FAILING_KINDS));

export function isFailing(kind: string, failOn: readonly string[]): boolean {
  const isFinding = kind !== 'assumed' && kind !== 'off-contract';
  return failOn.includes(kind) || (isFinding && failOn.includes('findings'));
}
