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
import { createStart, type Start } from '../core/sandbox/start.ts';
import { asError } from '../core/thrown.ts';
import type { Feature } from './feature.ts';
import { type FileWatch, watchFiles } from './files.ts';
import { createListener } from './http/listener.ts';
import { EVERY_ADDRESS } from './http/tls.ts';
import { type LoadedFiles, loadFiles } from './load-files.ts';
import { assembleMock, restartAll } from './mock.ts';
import { NODE_PLATFORM } from './node-platform.ts';
import { guardCallbacks } from './observers.ts';
import { type BaseOptions, checkOptions, listAgreed } from './options.ts';

/** A server that listens. */
export interface RunningServer {
  /** The service's base URL, such as `http://127.0.0.1:4010/v1`. */
  readonly url: string;
  readonly port: number;
  /** The token that the control API requires; undefined on loopback, where none is required. */
  readonly controlToken: string | undefined;
  /** The certificate that clients have to trust, in PEM; undefined without TLS. */
  readonly certificate: string | undefined;
  /** The replies that clients were shown, in all sandboxes. */
  coverage(): CoverageReport;
  /** What clients did that they should not do against the real service, in all sandboxes. */
  findings(): FindingsReport;
  /** @internal */
  readonly sandboxes: Sandboxes;
  /** Finishes requests under way, then closes. Drops connections of unresponsive clients. */
  close(): Promise<void>;
}

/**
 * Starts a server and waits until it answers.
 *
 * @param features features that add responders, pages, storages or options
 * @param files the files, if they have been loaded
 * @throws FixtureError, ScenarioError or CertificateError for an unusable file; StorageError if
 * `db` is unusable; RangeError for a wrong option; Node's own errors if the port is taken or not
 * permitted
 */
export async function startServerWith(
  features: readonly Feature[],
  given: BaseOptions = {},
  files?: LoadedFiles,
): Promise<RunningServer> {
  checkOptions(given, features);
  const options = guardCallbacks(given, NODE_PLATFORM);
  const { host = DEFAULTS.host, port = DEFAULTS.port, timeouts, onNotice } = options;
  const loaded = files ?? (await loadFiles(options));
  const { certificate } = loaded;
  const { scenarioStorage, responding, storage, start, readStart } = await openFeatures(
    features,
    options,
    loaded,
  );
  const controlToken = isLoopbackName(host)
    ? undefined
    : (options.controlToken ?? storage?.controlToken ?? randomToken());
  const mock = assembleMock(
    {
      start,
      storage,
      scenarioStorage,
      guard: { token: controlToken, host },
      certificate: certificate?.cert,
      notes: new Map(features.flatMap((it) => [...(it.noteAssumptions?.(options) ?? [])])),
      upstream: responding?.responder,
    },
    options,
  );
  const { service, sandboxes, persistence, pending } = mock;
  const { listen, close: stopListening } = createListener({
    service,
    loadApp: () => loadApp(mock, features),
    sandbox: sandboxes.default,
    persistence,
    timeouts,
    certificate,
    onNotice,
  });
  const closeOpened = async (): Promise<void> => {
    responding?.close();
    await storage?.close();
  };
  const address = await listen(port, host).catch(async (error) => {
    mock.stopRemoving?.();
    await closeOpened();
    throw error;
  });
  const watching = options.watch
    ? watch(options, loaded, async (changed) =>
        restartAll(sandboxes, persistence, await readStart(changed)),
      )
    : undefined;
  const close = async (): Promise<void> => {
    watching?.close();
    await storage?.drain?.();
    // Stop listening first, so that the replies that `endAll` sends have `Connection: close`.
    const closed = stopListening();
    pending.endAll();
    mock.stopRemoving?.();
    sandboxes.end();
    await closed;
    await closeOpened();
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

/** Opens responders and storages of features, and loads the files of the start. */
async function openFeatures(
  features: readonly Feature[],
  options: BaseOptions,
  loaded: LoadedFiles,
) {
  const scenarioStorage = await openFirst(features, (feature) => feature.openScenarios?.(options));
  const responding = await openFirst(features, (feature) => feature.openResponder?.(options));
  const read = async ({ store, scenarios }: LoadedFiles) =>
    createStart(options, store, scenarios, await scenarioStorage?.load());
  const own = await read(loaded);
  const context = { start: own, agreed: listAgreed(options, features) };
  const storage = await openFirst(features, (feature) => feature.openStorage?.(options, context));
  const withKept = (start: Start): Start =>
    storage?.store ? { ...start, store: storage.store } : start;
  const readStart = async (changed: LoadedFiles) => withKept(await read(changed));
  return { scenarioStorage, responding, storage, start: withKept(own), readStart };
}

/** Loads Express, which requests for the service do not need. */
async function loadApp(
  mock: ReturnType<typeof assembleMock>,
  features: readonly Feature[],
): Promise<RequestListener> {
  const [{ default: express }, { createExpressApp }] = await Promise.all([
    import('express'),
    import('./http/app.ts'),
  ]);
  return createExpressApp(express, mock, features);
}

/** The first non-empty result of `open` among the features. */
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

/** Restarts all sandboxes when a file of their start changes, or of a scenario added later. */
function watch(
  options: BaseOptions,
  loaded: LoadedFiles,
  restart: (changed: LoadedFiles) => Promise<void>,
): FileWatch {
  const watching = watchFiles(loaded.watched, async () => {
    try {
      const changed = await loadFiles(options, loaded);
      await restart(changed);
      watching.follow(changed.watched);
      options.onReload?.(undefined);
    } catch (error) {
      options.onReload?.(asError(error));
    }
  });
  return watching;
}

/** 128 random bits in hexadecimal, which need no quotes in a shell. */
function randomToken(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('hex');
}

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
