import { existsSync, realpathSync } from 'node:fs';
import { codeOf } from '../error-code.ts';
import { ScenarioError } from '../scenario/scenario.ts';
import { type LoadedFiles, loadFiles, type RunningServer, startServer } from '../server.ts';
import { FixtureError } from '../store/fixture/parse-fixture.ts';
import { Failure, UsageError } from './failures.ts';
import { givenAs, type Layers } from './input/given.ts';
import type { ServeSettings } from './input/settings.ts';

/**
 * Starts a server.
 *
 * @param files what was loaded already
 * @throws UsageError, Failure with what to do about it
 */
export async function start(
  settings: ServeSettings,
  layers: Layers,
  files?: LoadedFiles,
): Promise<RunningServer> {
  try {
    return await startServer(settings, files);
  } catch (error) {
    throw await explained(error, settings, layers);
  }
}

/**
 * Loads what `start` starts from.
 *
 * @throws UsageError with what to do about it
 */
export async function load(settings: ServeSettings, layers: Layers): Promise<LoadedFiles> {
  try {
    return await loadFiles(settings);
  } catch (error) {
    throw await explained(error, settings, layers);
  }
}

/** The error for a scenario that cannot be used. */
function scenarioProblem(error: ScenarioError, layers: Layers): UsageError {
  const origin = givenAs(layers, 'scenario')?.origin ?? 'the package';
  return new UsageError(`the scenarios of ${origin} cannot be used\n${error.message}`, {
    cause: error,
  });
}

/** The error for whoever started the server, with what to do about it. */
async function explained(error: unknown, settings: ServeSettings, layers: Layers): Promise<Error> {
  if (error instanceof ScenarioError) return scenarioProblem(error, layers);
  if (error instanceof FixtureError) {
    const file = brokenFile(error, settings, layers);
    return new UsageError(`${file} cannot be used\n${error.message}`, { cause: error });
  }
  const { StoreFileError } = await import('../store/file/store-file.ts');
  const why = error instanceof StoreFileError ? error.message : whyNot(settings, error);
  return new Failure(why, { cause: error });
}

/** Which file an error is about: each of its problems begins with the path. */
function brokenFile({ problems }: FixtureError, settings: ServeSettings, layers: Layers): string {
  const { db, fixture } = settings;
  const isAbout = (file: string | undefined) =>
    file !== undefined && problems.some((problem) => problem.startsWith(`${file}:`));
  // Problems name the path behind links, since that is the file that is written.
  const kept = db !== undefined && existsSync(db) ? realpathSync(db) : db;
  if (isAbout(kept)) return `the file of ${givenAs(layers, 'db')?.origin ?? 'the store'}`;
  if (!isAbout(fixture)) return 'the fixture of a scenario';
  return `the fixture of ${givenAs(layers, 'fixture')?.origin ?? 'the package'}`;
}

function whyNot({ host, port }: ServeSettings, error: unknown): string {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return `port ${port} of ${host} is taken: stop what listens there, or choose another with --port (0 takes any free one)`;
    case 'EACCES':
      return `no permission to listen on port ${port} of ${host}: choose one above 1023 with --port (0 takes any free one)`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${host} is not an address of this machine: choose another with --host (127.0.0.1, or 0.0.0.0 for all)`;
    default:
      throw error;
  }
}
