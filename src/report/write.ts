import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, extname } from 'node:path';
import type { ReportData } from './data.ts';
import { renderHtml } from './html.ts';
import { renderJunit } from './junit.ts';
import { renderLcov } from './lcov.ts';

/** How a report is written, by the ending of its file's name. */
export const coverageFormats: Readonly<Record<string, (data: ReportData) => string>> = {
  '.json': (data) => `${JSON.stringify(data, undefined, 2)}\n`,
  '.html': renderHtml,
  '.xml': renderJunit,
  '.info': renderLcov,
};

/** @throws TypeError where the file's ending is none of `coverageFormats` */
export function writeCoverage(file: string, data: ReportData): void {
  const render = coverageFormats[extname(file)];
  if (render === undefined) throw new TypeError(`No format is known for ${file}.`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, render(data));
}
