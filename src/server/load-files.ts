import { DEFAULTS } from '../core/limits.ts';
import { isShipped } from '../core/scenario/scenario-names.ts';
import type { Scenario } from '../core/scenario/scenario-shape.ts';
import type { Store } from '../core/store/store.ts';
import { ContentError, createFileProblem } from '../core/words.ts';
import { isPipe } from './files.ts';
import { fixturePath, loadStore } from './fixtures.ts';
import { type Certificate, loadCertificate } from './http/tls.ts';
import type { BaseOptions } from './options.ts';

/** What a server reads before it starts. */
export interface LoadedFiles {
  readonly store: Store;
  readonly scenarios: readonly Scenario[];
  readonly certificate: Certificate | undefined;
  readonly watched: readonly string[];
}

/**
 * @param earlier the files loaded before a reload, which keeps their certificate
 * @throws FixtureError, ScenarioError, CertificateError if a file cannot be used
 */
export async function loadFiles(options: BaseOptions, earlier?: LoadedFiles): Promise<LoadedFiles> {
  const { host = DEFAULTS.host, scenarios: names = [] } = options;
  const certificate = earlier ? earlier.certificate : await loadCertificate(options, host);
  const files = [...findFixture(options), ...names.filter((name) => !isShipped(name))];
  if (options.watch) refusePipes(files);
  const store = await loadStore(options, options.seed);
  // Imported here, since most starts have no scenario.
  const scenarios =
    names.length === 0
      ? []
      : await (await import('./scenarios.ts')).loadScenarios(names, options.seed);
  const watched = [
    ...findFixture(options),
    ...scenarios.flatMap(({ file, fixture }) => [file ?? [], fixture ? fixturePath(fixture) : []]),
  ].flat();
  if (options.watch) refusePipes(watched);
  return { store, scenarios, certificate, watched };
}

/** A pipe can be read only once. */
function refusePipes(files: readonly string[]): void {
  const pipe = files.find(isPipe);
  if (pipe !== undefined) throw new ContentError([createFileProblem(pipe, 'a file', 'a pipe')]);
}

/** The file of the fixture, unless the store is generated. */
function findFixture({ fixture = DEFAULTS.fixture, animals, orders }: BaseOptions): string[] {
  return animals === undefined && orders === undefined ? [fixturePath(fixture)] : [];
}
