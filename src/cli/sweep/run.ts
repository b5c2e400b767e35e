import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario } from '../../scenario/scenario.ts';
import type { RunningServer } from '../../server.ts';
import { type RunningCommand, runCommand } from '../child/child.ts';
import { commandEnvironment } from '../child/command-environment.ts';
import type { Ending } from '../child/ending.ts';
import type { ServeSettings } from '../input/settings.ts';
import { type FoundKind, foundKinds } from '../output/run-evidence.ts';
import { Tail } from './tail.ts';

/** What all runs of a sweep share. */
export interface Runs {
  readonly command: readonly string[];
  readonly scenarios: readonly Scenario[];
  readonly startServer: (settings: ServeSettings) => Promise<RunningServer>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The commands that are running, for an interruption to end. */
  readonly running: Set<RunningCommand>;
}

export interface FinishedRun {
  readonly ending: Ending;
  readonly seconds: number;
  readonly output: Tail;
  readonly findings: readonly FoundKind[];
}

/** Milliseconds that a server waits for requests that the command left unfinished. */
const LAST_REPLIES = 500;

/** Runs the command once, with a server of its own. */
export async function runOnce(
  { command, scenarios, startServer, environment, running }: Runs,
  settings: ServeSettings,
  timeout: number | undefined,
): Promise<FinishedRun> {
  const server = await startServer(settings);
  const output = new Tail();
  const startedAt = performance.now();
  const child = runCommand(command, {
    environment: commandEnvironment(server, settings, scenarios, environment),
    onOutput: (bytes) => output.add(bytes),
    ownGroup: true,
    timeout,
  });
  running.add(child);
  const ending = await child.ending;
  running.delete(child);
  const seconds = (performance.now() - startedAt) / 1000;
  await Promise.race([server.close(), sleep(LAST_REPLIES)]);
  return { ending, seconds, output, findings: foundKinds(server.findings()) };
}

/** Maps a list with at most `jobs` at a time; results keep the order of the list. */
export async function atATime<Item, Result>(
  jobs: number,
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const entries = items.entries();
  const worker = async (): Promise<void> => {
    // One iterator is shared: each worker takes what is next.
    for (const [index, item] of entries) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(jobs, items.length) }, worker));
  return results;
}
