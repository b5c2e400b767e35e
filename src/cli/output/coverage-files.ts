import { extname } from 'node:path';
import { REPORT_FORMATS, writeCoverage } from '../../report/report-files.ts';
import type { RunningServer } from '../../server.ts';
import { describe, listed } from '../../words.ts';
import { refusal, type Settings } from '../input/given.ts';

const ENDINGS = Object.keys(REPORT_FORMATS);

/**
 * Checks the names of the files of `--coverage` before the run.
 *
 * @throws UsageError for an unknown extension
 * @returns a function that writes the files and returns a message for each that failed
 */
export function coverageWriter({
  flags,
  originOf,
}: Settings): (server: Pick<RunningServer, 'coverage' | 'findings'>) => string[] {
  const { coverage: files = [], requireCoverage: required = 0 } = flags;
  for (const file of files) {
    const origin = originOf('coverage');
    if (!ENDINGS.includes(extname(file))) {
      throw refusal(origin, `a name that ends in ${listed(ENDINGS, 'or')}`, describe(file));
    }
  }
  return (server) => {
    if (files.length === 0) return [];
    const report = { coverage: server.coverage(), findings: server.findings() };
    const { shown, total } = report.coverage.totals.documented;
    const missed = (100 * shown) / total < required;
    return files.flatMap((file) => {
      try {
        writeCoverage(file, report, missed);
        return [];
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        return [`cannot write coverage to ${file}: ${reason}`];
      }
    });
  };
}
