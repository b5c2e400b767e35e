import { howToGet } from '../evidence/how-to-get.ts';
import type { Shown } from '../evidence/report-shapes.ts';
import { findingKinds, placeOf, type ReportData } from './data.ts';
import { renderJunit, type TestCase } from './junit.ts';

/**
 * Coverage as JUnit XML: what was never shown is skipped. Findings never fail, since a client has to
 * use deprecated operations to be shown every reply.
 *
 * @param missed whether the run missed `--require-coverage`: missing documented replies fail then
 */
export function coverageJunit(
  { coverage: { documented, cases }, findings }: ReportData,
  missed: boolean,
): string {
  const missing = missed ? 'failure' : 'skipped';
  return renderJunit([
    {
      name: 'documented replies',
      cases: documented.map((it) => ({
        group: it.operation,
        name: `${it.status} ${it.description}`,
        ...(it.count === 0 && { ...neverShown(it, missing), output: howToGet(it) }),
      })),
    },
    {
      name: 'documented cases',
      cases: cases.map((it) => ({
        group: it.operation,
        name: `${it.status} ${it.id}: ${it.sentence}`,
        ...neverShown(it, 'skipped'),
      })),
    },
    {
      name: 'findings',
      cases: findingKinds(findings).map(({ code, count, kept }) => ({
        group: 'findings',
        name: `${code}: ${count}`,
        output: kept.map((it) => `${it.message} ${it.advice}\n${placeOf(it)}\n`).join(''),
      })),
    },
  ]);
}

function neverShown(
  { count }: Shown,
  verdict: 'failure' | 'skipped',
): Pick<TestCase, 'verdict' | 'message'> {
  return count > 0 ? {} : { verdict, message: 'never shown' };
}
