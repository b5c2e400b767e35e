import { accessSync, constants, statSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { coverageFormats, writeCoverage } from '../../report/write.ts';
import type { RunningServer } from '../../server.ts';
import { describe, listed } from '../../words.ts';
import { type Layers, listOf, originOf, refusal } from '../input/given.ts';
import { notice } from './escaped.ts';

const ENDINGS = Object.keys(coverageFormats);

/** The files that coverage is to be written to. */
export class CoverageFiles {
  readonly #files: readonly string[];

  /**
   * @throws UsageError where a file's ending does not say how to write it, or where it cannot be
   *   written: to be told so after a long run would be too late
   */
  constructor(layers: Layers) {
    this.#files = listOf(layers, 'coverage') ?? [];
    const origin = originOf(layers, 'coverage');
    for (const file of this.#files) {
      if (!ENDINGS.includes(extname(file))) {
        throw refusal(origin, `a name that ends in ${listed(ENDINGS, 'or')}`, describe(file));
      }
      const obstacle = obstacleTo(resolve(file));
      if (obstacle !== undefined) {
        throw refusal(origin, 'a file that can be written', `${describe(file)}: ${obstacle}`);
      }
    }
  }

  /**
   * Writes every file that can be written with what clients of a server were shown, and tells what is
   * wrong with the others.
   *
   * @returns the exit code where all else went well: 1 where a file could not be written
   */
  write(server: Pick<RunningServer, 'coverage' | 'findings'>, notices: Writable): 0 | 1 {
    if (this.#files.length === 0) return 0;
    const report = { coverage: server.coverage(), findings: server.findings() };
    const problems = this.#files.flatMap((file) => {
      try {
        writeCoverage(file, report);
        return [];
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        return [`the coverage cannot be written to ${file}: ${reason}`];
      }
    });
    notices.write(problems.map(notice).join(''));
    return problems.length > 0 ? 1 : 0;
  }
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
