import { renderJunit } from '../../report/junit.ts';
import { renderPage } from '../../report/page.ts';
import type { Report } from '../../report/report.ts';
import { writeWhole } from '../../report/report-files.ts';
import { Failure } from '../failures.ts';
import type { Flags } from '../flags.ts';
import { renderReport } from './render-report.ts';
import type { Terminal } from './terminal.ts';

/** A value as the commands with --json print it. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** Prints a report, and writes it to the files of `--junit` and `--html`. */
export function writeResult(
  report: Report,
  { json, junit, html }: Flags,
  { output, style }: Terminal,
): void {
  output.write(json ? jsonText(report.document) : renderReport(report, style));
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
