import { accessSync, constants, statSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';
import { describe } from '../contract/records.ts';
import type { ReportData } from '../report/data.ts';
import { coverageFormats, writeCoverage } from '../report/write.ts';
import { listed } from '../store/read-store.ts';
import { givenAs, type Layers, listOf, refusal } from './given.ts';

const ENDINGS = Object.keys(coverageFormats);

/**
 * The files that coverage is to be written to.
 *
 * @throws UsageError where a file's ending does not say how to write it, or where it cannot be
 *   written: to be told so after a long run would be too late
 */
export function coverageFilesOf(layers: Layers): readonly string[] {
  const files = listOf(layers, 'coverage') ?? [];
  const origin = givenAs(layers, 'coverage')?.origin ?? 'coverage';
  for (const file of files) {
    if (!ENDINGS.includes(extname(file))) {
      throw refusal(origin, `a name that ends in ${listed(ENDINGS, 'or')}`, describe(file));
    }
    const obstacle = obstacleTo(resolve(file));
    if (obstacle !== undefined) {
      throw refusal(origin, 'a file that can be written', `${describe(file)}: ${obstacle}`);
    }
  }
  return files;
}

/**
 * Writes every file that can be written.
 *
 * @returns what is wrong with the others
 */
export function writeCoverageFiles(files: readonly string[], data: ReportData): string[] {
  return files.flatMap((file) => {
    try {
      writeCoverage(file, data);
      return [];
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return [`the coverage cannot be written to ${file}: ${reason}`];
    }
  });
}

/** Why a file cannot be written, as far as can be told without making anything. */
function obstacleTo(file: string): string | undefined {
  if (entryAt(file) === 'folder') return 'it is a folder';
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const found = entryAt(folder);
    if (found === 'none' && folder !== dirname(folder)) continue;
    if (found === 'folder') return isWritable(folder) ? undefined : `${folder} is not writable`;
    return `${folder} is no folder`;
  }
}

function entryAt(path: string): 'folder' | 'other' | 'none' {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'other';
  } catch {
    return 'none';
  }
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
