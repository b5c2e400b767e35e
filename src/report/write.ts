import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname } from 'node:path';
import { coverageJunit } from './coverage-junit.ts';
import { coveragePage } from './coverage-page.ts';
import type { ReportData } from './data.ts';
import { documentBeside, documentText, renderLcov } from './lcov.ts';

/** Renders a report for `file`; `missed` says whether the run missed `--require-coverage`. */
type Render = (data: ReportData, file: string, missed: boolean) => string;

/** The formats of a coverage report, by the extension of its file. */
export const coverageFormats: Readonly<Record<string, Render>> = {
  '.json': (data) => `${JSON.stringify(data, undefined, 2)}\n`,
  '.html': coveragePage,
  '.xml': (data, _file, missed) => coverageJunit(data, missed),
  '.info': renderLcov,
};

/**
 * Writes a coverage report; for lcov also the document that it is about.
 *
 * @throws TypeError for an unknown extension, and Node's own errors if a file cannot be written
 */
export function writeCoverage(file: string, data: ReportData, missed = false): void {
  const extension = extname(file);
  const render = coverageFormats[extension];
  if (render === undefined) throw new TypeError(`No format is known for ${file}.`);
  if (extension === '.info') writeWhole(documentBeside(file), documentText());
  writeWhole(file, render(data, file, missed));
}

/** Writes a file and its folders. Readers see all of the old file or all of the new one. */
function writeWhole(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const real = existsSync(file) ? realpathSync(file) : file;
  const draft = `${real}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, text);
    renameSync(draft, real);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
