import { DEFAULTS } from '../core/limits.ts';
import { ContentError, createFileProblem } from '../core/problems.ts';
import { isShipped } from '../core/scenario/scenario-names.ts';
import type { Scenario } from '../core/scenario/scenario-shape.ts';
import { isShippedFixture } from '../core/store/fixture.ts';
import type { Store } from '../core/store/store.ts';
import { isPipe } from './files.ts';
import { loadStore } from './fixtures.ts';
import { type Certificate, loadCertificate } from './http/tls.ts';
import type { BaseOptions } from './options.ts';

/** The files that a server reads before it starts. */
export interface LoadedFiles {
  readonly store: Store;
  readonly scenarios: readonly Scenario[];
  readonly certificate: Certificate | undefined;
  readonly watched: readonly string[];
}

/**
 * @param earlier the loaded files on a reload, which keeps the certificate
 * @throws FixtureError, ScenarioError, CertificateError if a file cannot be used
 */
export async function loadFiles(options: BaseOptions, earlier?: LoadedFiles): Promise<LoadedFiles> {
  const { host = DEFAULTS.host, scenarios: names = [], fixture = DEFAULTS.fixture } = options;
  const certificate = earlier ? earlier.certificate : await loadCertificate(options, host);
  const files = [fixture, ...names].filter(isPath);
  if (options.watch) refusePipes(files);
  const store = await loadStore(options, options.seed);
  // Imported late, because most servers start without a scenario.
  const scenarios =
    names.length === 0
      ? []
      : await (await import('./scenarios.ts')).loadScenarios(names, options.seed);
  const extended = scenarios.flatMap(({ file, fixture }) => [file ?? [], fixture ?? []]).flat();
  const watched = [fixture, ...extended].filter(isPath);
  if (options.watch) refusePipes(watched);
  return { store, scenarios, certificate, watched };
}

/** Refuses pipes, which cannot be read again for a reload. */
function refusePipes(files: readonly string[]): void {
  const pipe = files.find(isPipe);
  if (pipe !== undefined) throw new ContentError([createFileProblem(pipe, 'a file', 'a pipe')]);
}

/** Whether this is a path, not the name of a shipped fixture or scenario. */
function isPath(nameOrPath: string): boolean {
  return !isShippedFixture(nameOrPath) && !isShipped(nameOrPath);
}
