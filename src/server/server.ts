import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isLoopbackName } from '../core/contract/base-url.ts';
import { BASE_PATH } from '../core/contract/operations.ts';
import { DEFAULTS } from '../core/limits.ts';
import {
  createCoverageReport,
  createFindingsReport,
  type FindingsReport,
} from '../core/sandbox/coverage.ts';
import type { CoverageReport } from '../core/sandbox/report-shapes.ts';
import type { Sandboxes } from '../core/sandbox/sandboxes.ts';
import { createStart, type Start } from '../core/scenario/sandbox-start.ts';
import { isShipped } from '../core/scenario/scenario-names.ts';
import type { Scenario } from '../core/scenario/scenario-shape.ts';
import type { Store } from '../core/store/store.ts';
import { ContentError, createFileProblem } from '../core/words.ts';
import type { Feature } from './feature.ts';
import { type FileWatch, isPipe, watchFiles } from './files.ts';
import { fixturePath, loadStore } from './fixtures.ts';
import { createListener } from './http/listener.ts';
import { type Certificate, loadCertificate } from './http/tls.ts';
import { assembleMock, restartAll } from './mock.ts';
import { asError } from './node-errors.ts';
import type { BaseOptions } from './options.ts';
import { checkOptions } from './options.ts';
import type { SaveScenarios } from './persistence.ts';

/** A server that listens. */
export interface RunningServer {
  /** The service's base URL, such as `http://127.0.0.1:4010/v1`. */
  readonly url: string;
  readonly port: number;
  /** The token that the control API requires; undefined on loopback, where it requires none. */
  readonly controlToken: string | undefined;
  /** The certificate, in PEM, for clients to trust; undefined without TLS. */
  readonly certificate: string | undefined;
  /** What clients were shown, in all sandboxes. */
  coverage(): CoverageReport;
  /** What clients should not do against the real service, in all sandboxes. */
  findings(): FindingsReport;
  /** @internal */
  readonly sandboxes: Sandboxes;
  /** Finishes requests in flight, then closes. Ends connections whose clients stop responding. */
  close(): Promise<void>;
}

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

/**
 * Starts a server and waits until it answers.
 *
 * @param features what can answer, serve pages, or keep states besides what the server has itself
 * @param files already loaded files
 * @throws FixtureError, ScenarioError, CertificateError if a file cannot be used, StorageError if `db` cannot be used,
 *   RangeError for a wrong option, and Node's own errors if the port is taken or not permitted
 */
export async function startServerWith(
  features: readonly Feature[],
  options: BaseOptions = {},
  files?: LoadedFiles,
): Promise<RunningServer> {
  const { host = DEFAULTS.host, port = DEFAULTS.port, timeouts } = options;
  checkOptions(options, features);
  let loaded = files ?? (await loadFiles(options));
  const folder = await openFirst(features, (feature) => feature.openScenarios?.(options));
  let saved = await folder?.load();
  const createOwnStart = () => createStart(options, loaded.store, loaded.scenarios, saved);
  const start = createOwnStart();
  const { certificate } = loaded;
  const responding = await openFirst(features, (feature) => feature.openResponder?.(options));
  const upstream = responding?.responder;
  const context = { start, upstream };
  const keeper = await openFirst(features, (feature) => feature.openKeeper?.(options, context));
  const controlToken = isLoopbackName(host)
    ? undefined
    : (options.controlToken ?? keeper?.controlToken ?? randomToken());
  const guard = { token: controlToken, host };
  const withKept = (own: Start): Start => ({
    ...own,
    ...(keeper?.store && { store: keeper.store }),
  });
  const saveScenarios: SaveScenarios | undefined =
    folder &&
    ((before, after) => {
      folder.save(before, after);
      // A reset returns to what the folder holds.
      sandboxes.default.start = { ...sandboxes.default.start, saved: after };
    });
  const stores = { start: withKept(start), keeper, saveScenarios };
  const notes = new Map(features.flatMap((it) => [...(it.noteAssumptions?.(options) ?? [])]));
  const parts = {
    ...{ ...stores, features, guard, certificate: certificate?.cert, notes, upstream },
  };
  const mock = assembleMock(parts, options);
  const { service, sandboxes, persistence, pending } = mock;
  const { listen, close: stopListening } = createListener({
    service,
    loadApp: () => loadApp(mock, features),
    sandbox: sandboxes.default,
    persistence,
    timeouts,
    certificate,
    onNotice: options.onNotice,
  });
  const address = await listen(port, host).catch(async (error) => {
    await keeper?.close();
    throw error;
  });
  const reload = async (): Promise<readonly string[]> => {
    loaded = await loadFiles(options, loaded);
    saved = await folder?.load();
    await restartAll(sandboxes, persistence, withKept(createOwnStart()));
    return loaded.watched;
  };
  const watching = options.watch ? watch(options, loaded.watched, reload) : undefined;
  const close = async (): Promise<void> => {
    watching?.close();
    await keeper?.drain?.();
    // First: the replies that `endAll` sends then carry `Connection: close`.
    const closed = stopListening();
    pending.endAll();
    mock.stopRemoving?.();
    sandboxes.end();
    await closed;
    responding?.close();
    await keeper?.close();
  };
  return {
    url: formatUrl(certificate === undefined ? 'http' : 'https', host, address),
    port: address.port,
    controlToken,
    certificate: certificate?.cert,
    coverage: () => createCoverageReport(persistence.served()),
    findings: () => createFindingsReport(persistence.served()),
    sandboxes,
    close,
  };
}

/** Express, which few requests need. */
async function loadApp(
  { service, control }: ReturnType<typeof assembleMock>,
  features: readonly Feature[],
): Promise<RequestListener> {
  const [{ default: express }, { createExpressApp }] = await Promise.all([
    import('express'),
    import('./http/app.ts'),
  ]);
  return createExpressApp(express, service, control, features);
}

/** What the first feature opens that opens something. */
async function openFirst<T>(
  features: readonly Feature[],
  open: (feature: Feature) => Promise<T | undefined> | undefined,
): Promise<T | undefined> {
  for (const feature of features) {
    const opened = await open(feature);
    if (opened !== undefined) return opened;
  }
  return undefined;
}

/** Watches the files of the start, including those of scenarios added later. */
function watch(
  options: BaseOptions,
  files: readonly string[],
  reload: () => Promise<readonly string[]>,
): FileWatch {
  const watching = watchFiles(files, async () => {
    try {
      watching.follow(await reload());
      options.onReload?.(undefined);
    } catch (error) {
      options.onReload?.(asError(error));
    }
  });
  return watching;
}

/** 128 bits, in digits that a shell and a flag take as they are. */
function randomToken(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('hex');
}

const EVERY_ADDRESS = /^(?:0\.0\.0\.0|::|::ffff:(?:0\.0\.0\.0|0:0))$/;

/**
 * The service's base URL on a server.
 *
 * @param host the name or address that the server was told to listen on
 * @param bound where it listens
 */
export function formatUrl(scheme: string, host: string, { address, port }: AddressInfo): string {
  // Clients cannot connect to the wildcard address.
  const name = EVERY_ADDRESS.test(address) ? 'localhost' : host;
  return `${scheme}://${name.includes(':') ? `[${name}]` : name}:${port}${BASE_PATH}`;
}
