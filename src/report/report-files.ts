import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, extname } from 'node:path';
import { type CoverageEvidence, coverageReport } from './coverage-report.ts';
import { renderJunit } from './junit.ts';
import { renderPage } from './page.ts';
import type { Report } from './report.ts';

/** The formats of a report, by the extension of its file. */
export const REPORT_FORMATS: Readonly<Record<string, (report: Report) => string>> = {
  '.json': ({ document }) => `${JSON.stringify(document, undefined, 2)}\n`,
  '.html': renderPage,
  '.xml': renderJunit,
};

/**
 * Writes a coverage report.
 *
 * @param missed whether the run missed `--require-coverage`
 * @throws TypeError for an unknown extension, and Node's own errors if the file cannot be written
 */
export function writeCoverage(file: string, evidence: CoverageEvidence, missed = false): void {
  const render = REPORT_FORMATS[extname(file)];
  if (render === undefined) throw new TypeError(`No format is known for ${file}.`);
  writeWithFolders(file, render(coverageReport(evidence, missed)));
}

/** Writes a file and its folders. */
export function writeWithFolders(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
