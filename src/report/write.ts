import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname } from 'node:path';
import { renderHtml } from './coverage-page.ts';
import type { ReportData } from './data.ts';
import { renderJunit } from './junit.ts';
import { documentBeside, documentText, renderLcov } from './lcov.ts';

/** How a report is written, by the ending of its file's name. */
export const coverageFormats: Readonly<Record<string, (data: ReportData, file: string) => string>> =
  {
    '.json': (data) => `${JSON.stringify(data, undefined, 2)}\n`,
    '.html': renderHtml,
    '.xml': renderJunit,
    '.info': renderLcov,
  };

/**
 * Writes a report, and beside one in lcov the document that it is about.
 *
 * @throws TypeError where the file's ending is none of `coverageFormats`, and Node's own errors where
 *   it cannot be written
 */
export function writeCoverage(file: string, data: ReportData): void {
  const ending = extname(file);
  const render = coverageFormats[ending];
  if (render === undefined) throw new TypeError(`No format is known for ${file}.`);
  mkdirSync(dirname(file), { recursive: true });
  if (ending === '.info') replaceFile(documentBeside(file), documentText());
  replaceFile(file, render(data, file));
}

/** Whoever reads the file meanwhile sees all of the old one or all of the new one. */
function replaceFile(file: string, text: string): void {
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
