import { join } from 'node:path';
import { packageRoot } from '../../src/package.ts';
import { runCommand } from './command.ts';

const CLIENTS = join(packageRoot, 'test/fixtures-clients');

export interface Swept {
  readonly runs: readonly {
    readonly assumption: string;
    readonly option: string;
    readonly verdict: string;
    readonly ending: object;
    readonly lastLines: readonly string[];
    readonly findings: readonly object[];
    readonly passedAlone: boolean;
  }[];
  readonly untouched: readonly string[];
  readonly decidedByScenario: readonly string[];
  readonly notRun: readonly object[];
}

/** Sweeps one of the clients of test/fixtures-clients. */
export async function sweepClient(name: string, ...flags: readonly string[]) {
  const command = [process.execPath, join(CLIENTS, `${name}.mjs`)];
  const finished = await runCommand(['sweep', '--json', ...flags, '--', ...command]);
  return { ...finished, swept: readSwept(finished) };
}

/** The report that `sweep --json` printed. */
export function readSwept({ stdout }: { readonly stdout: string }): Swept {
  return JSON.parse(stdout);
}

/** The options under which the command failed. */
export function failuresOf({ runs }: Swept): string[] {
  const failed = runs.filter(({ verdict }) => verdict === 'failed');
  return failed.map(({ assumption, option }) => `${assumption}=${option}`);
}
