import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';
import { coverageFormats, writeCoverage } from '../../report/write.ts';
import type { RunningServer } from '../../server.ts';
import { describe, listed } from '../../words.ts';
import { gatesOf } from '../input/gates.ts';
import { type Layers, listOf, originOf, refusal } from '../input/given.ts';

const ENDINGS = Object.keys(coverageFormats);

/** The files of `--coverage`. */
export class CoverageFiles {
  readonly #files: readonly string[];
  /** Percent of the documented replies that must be shown. */
  readonly #required: number;

  /**
   * @throws UsageError for an unknown extension, or a file that cannot be written: after a long run
   *   that message would come too late
   */
  constructor(layers: Layers) {
    this.#files = listOf(layers, 'coverage') ?? [];
    this.#required = gatesOf(layers).coverage ?? 0;
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
   * Writes every file that can be written.
   *
   * @returns what is wrong with the others
   */
  write(server: Pick<RunningServer, 'coverage' | 'findings'>): string[] {
    if (this.#files.length === 0) return [];
    const report = { coverage: server.coverage(), findings: server.findings() };
    const { shown, total } = report.coverage.totals.documented;
    const missed = (100 * shown) / total < this.#required;
    return this.#files.flatMap((file) => {
      try {
        writeCoverage(file, report, missed);
        return [];
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        return [`coverage cannot be written to ${file}: ${reason}`];
      }
    });
  }
}

/** Why a file cannot be written, as far as can be known without creating it. */
function obstacleTo(file: string): string | undefined {
  if (isFolder(file)) return 'it is a folder';
  let folder = dirname(file);
  while (!existsSync(folder)) folder = dirname(folder);
  if (!isFolder(folder)) return `${folder} is not a folder`;
  try {
    accessSync(folder, constants.W_OK);
    return undefined;
  } catch {
    return `${folder} is not writable`;
  }
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}
