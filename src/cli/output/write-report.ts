import { renderJunit } from '../../report/junit.ts';
import { renderPage } from '../../report/page.ts';
import type { Report } from '../../report/report.ts';
import { writeWhole } from '../../report/report-files.ts';
import { Failure } from '../failures.ts';
import type { Flags } from '../flags.ts';

/** A value as the commands with --json print it. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** Writes a report to the files of `--junit` and `--html`. */
export function writeReports(report: Report, { junit, html }: Flags): void {
  if (junit !== undefined) writeReport('--junit', junit, renderJunit(report));
  if (html !== undefined) writeReport('--html', html, renderPage(report));
}

/** @throws Failure if the file cannot be written */
export function writeReport(flag: string, file: string, text: string): void {
  try {
    writeWhole(file, text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure(`${flag}: cannot write ${file}: ${reason}`, { cause: error });
  }
}
