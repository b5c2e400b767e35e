import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { BASE_URL_FORM, baseUrlOf, isLoopbackName } from './contract/base-url.ts';
import { BASE_PATH } from './contract/operations.ts';
import { DEFAULTS } from './defaults.ts';
import { Upstreams } from './deployment/upstream/upstreams.ts';
import type { Timeouts } from './http/connections.ts';
import { createListener } from './http/listener.ts';
import {
  type Certificate,
  type CertificateOptions,
  loadCertificate,
  readCertificates,
} from './http/tls/certificate.ts';
import { assembleMock, type MockOptions } from './mock.ts';
import { asError } from './node-errors.ts';
import { coverageOf } from './sandbox/coverage.ts';
import type { FindingsReport } from './sandbox/findings.ts';
import { findingsOf } from './sandbox/findings.ts';
import type { CoverageReport } from './sandbox/report-shapes.ts';
import { checkTimes } from './sandbox/sandbox-options.ts';
import type { Fleet } from './sandbox/storage.ts';
import type { OpenUpstream, Upstream } from './sandbox/upstream.ts';
import {
  createStart,
  loadBases,
  loadStore,
  type Start,
  type StartSettings,
  type StoreChoice,
} from './scenario/sandbox-start.ts';
import type { Scenario } from './scenario/scenario-shape.ts';
import { fixturePath } from './store/fixture/parse-fixture.ts';
import type { Store } from './store/store.ts';
import type { FileWatch } from './watch.ts';

/** How to start a server. Defaults are those of the flags with the same names. */
export interface ServerOptions extends StartSettings, StoreChoice, MockOptions, CertificateOptions {
  readonly host?: string | undefined;
  /** 0 takes any free port. */
  readonly port?: number | undefined;
  /** Names of scenarios that the package ships, or paths of others; later ones win. */
  readonly scenarios?: readonly string[] | undefined;
  /** A file that keeps the default sandbox's store through restarts. */
  readonly db?: string | undefined;
  /** The address of a Redis through which servers share all sandboxes: `redis://HOST:PORT/DB`. */
  readonly shared?: string | undefined;
  /** The base URL of a deployment that answers in place of the mock. */
  readonly upstream?: string | URL | undefined;
  /** The key that the deployment gets in place of the client's. */
  readonly upstreamKey?: string | undefined;
  /** Milliseconds that the deployment may be silent; 30 seconds by default. */
  readonly upstreamTimeout?: number | undefined;
  /** Where `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` are looked up; by default nowhere. */
  readonly proxyVariables?: Readonly<Record<string, string | undefined>> | undefined;
  /** A file with a certificate to trust besides those that Node trusts, in PEM. */
  readonly cacert?: string | undefined;
  /** The token that the control API requires on a host other than loopback; random by default. */
  readonly controlToken?: string | undefined;
  /** Whether every sandbox restarts when a file that it started from changes. */
  readonly watch?: boolean | undefined;
  /** Called after each such change, with the error if the files cannot be used. */
  readonly onReload?: ((problem: Error | undefined) => void) | undefined;
  readonly timeouts?: Partial<Timeouts> | undefined;
}

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
  /** Finishes requests in flight, then closes. Ends connections whose clients stop responding. */
  close(): Promise<void>;
}

/** The loaded files. A pipe can be read only once, but several servers can start from it. */
export interface LoadedFiles {
  readonly store: Store;
  readonly scenarios: readonly Scenario[];
  readonly certificate: Certificate | undefined;
  /** What `cacert` names. */
  readonly ca: string | undefined;
}

/**
 * @param former what was loaded before: its certificate stays
 * @throws FixtureError, ScenarioError, CertificateError if a file cannot be used
 */
export async function loadFiles(
  options: ServerOptions,
  former?: LoadedFiles,
): Promise<LoadedFiles> {
  const { host = DEFAULTS.host, scenarios: names = [] } = options;
  const { certificate, ca } = former ?? {
    certificate: await loadCertificate(options, host),
    ca: options.cacert && (await readCertificates(options.cacert)),
  };
  const store = await loadStore(options, options.seed);
  // Imported here, since most starts have no scenario.
  const scenarios =
    names.length === 0
      ? []
      : await loadBases(
          await (await import('./scenario/load-scenario.ts')).loadScenarios(names),
          options.seed,
        );
  return { store, scenarios, certificate, ca };
}

/**
 * Starts a server and waits until it answers.
 *
 * @param files already loaded files
 * @throws FixtureError, ScenarioError, CertificateError if a file cannot be used, StorageError if `db` cannot be used,
 *   RangeError for a time that no timer can wait, and Node's own errors if the port is taken or not permitted
 */
export async function startServer(
  options: ServerOptions = {},
  files?: LoadedFiles,
): Promise<RunningServer> {
  const { host = DEFAULTS.host, port = DEFAULTS.port, timeouts } = options;
  checkTimes(options);
  let loaded = files ?? (await loadFiles(options));
  const start = createStart(options, loaded.store, loaded.scenarios);
  const controlToken = isLoopbackName(host) ? undefined : (options.controlToken ?? drawToken());
  const guard = { token: controlToken, host };
  const { certificate, ca } = loaded;
  const { proxyVariables: variables, upstreamTimeout: timeout } = options;
  const upstreams = new Upstreams({ ca, timeout, variables });
  const upstream = await openUpstream(upstreams, options);
  const fleet = await joinFleet(start, upstreams.open, upstream?.url, options);
  // Last, since only a server that listens releases the file.
  const file = await openFile(start, options);
  // What a file holds wins over the state that scenarios set up.
  const withFile = (own: Start): Start =>
    file === undefined ? own : { ...own, store: file.store };
  const stores = { start: withFile(start), openFile: file?.open, fleet };
  const parts = { ...stores, guard, certificate: certificate?.cert, upstreams, upstream };
  const mock = assembleMock(parts, options);
  const { service, sandboxes, pending } = mock;
  const { server, close: stopListening } = createListener({
    service,
    loadApp: () => loadApp(mock),
    sandbox: sandboxes.default,
    timeouts,
    certificate,
    onNotice: options.onNotice,
  });
  const address = await listen(server, port, host).catch(async (error) => {
    await file?.close();
    fleet?.close();
    throw error;
  });
  const reload = async (): Promise<readonly Scenario[]> => {
    loaded = await loadFiles(options, loaded);
    await sandboxes.restart(withFile(createStart(options, loaded.store, loaded.scenarios)));
    return loaded.scenarios;
  };
  const watching = options.watch ? await watch(options, loaded.scenarios, reload) : undefined;
  const close = async (): Promise<void> => {
    watching?.close();
    // First: the replies that `endAll` sends then carry `Connection: close`.
    const closed = stopListening();
    pending.endAll();
    mock.stopRemoving?.();
    await Promise.all([closed, sandboxes.end()]);
    upstreams.close();
    await file?.close();
    fleet?.close();
  };
  return {
    url: urlOf(certificate === undefined ? 'http' : 'https', host, address),
    port: address.port,
    controlToken,
    certificate: certificate?.cert,
    coverage: () => coverageOf(sandboxes.served),
    findings: () => findingsOf(sandboxes.served),
    close,
  };
}

/** Express, which few requests need. */
async function loadApp({
  service,
  control,
}: ReturnType<typeof assembleMock>): Promise<RequestListener> {
  const [{ default: express }, { createExpressApp }] = await Promise.all([
    import('express'),
    import('./control/app.ts'),
  ]);
  return createExpressApp(express, service, control);
}

async function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  await once(server.listen({ port, host }), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address;
}

async function openUpstream(
  upstreams: Upstreams,
  { upstream: url, upstreamKey }: ServerOptions,
): Promise<Upstream | undefined> {
  if (url === undefined) return undefined;
  const baseUrl = baseUrlOf(String(url));
  if (baseUrl === undefined) throw new TypeError(`upstream: expected ${BASE_URL_FORM}`);
  return upstreams.open(baseUrl, upstreamKey);
}

/** Watches the files of the start, including those of scenarios added later. */
async function watch(
  options: ServerOptions,
  scenarios: readonly Scenario[],
  reload: () => Promise<readonly Scenario[]>,
): Promise<FileWatch> {
  const { watchFiles } = await import('./watch.ts');
  const watching = watchFiles(filesOf(options, scenarios), async () => {
    try {
      watching.follow(filesOf(options, await reload()));
      options.onReload?.(undefined);
    } catch (error) {
      options.onReload?.(asError(error));
    }
  });
  return watching;
}

function filesOf(options: ServerOptions, scenarios: readonly Scenario[]): string[] {
  const { fixture = DEFAULTS.fixture, animals, orders } = options;
  const generated = animals !== undefined || orders !== undefined;
  const fixtures = scenarios.map((it) => it.fixture);
  if (!generated) fixtures.push(fixture);
  return [
    ...fixtures.flatMap((it) => (it === undefined ? [] : [fixturePath(it)])),
    ...scenarios.flatMap(({ file }) => file ?? []),
  ];
}

/** Opens the file of `db`, if there is one. A new file starts with the store of the start. */
async function openFile({ store }: Start, { db }: ServerOptions) {
  return db === undefined
    ? undefined
    : (await import('./storage/file.ts')).openStoreFile(db, store);
}

/** Joins the servers of `shared`, which must have started alike. */
async function joinFleet(
  start: Start,
  openUpstream: OpenUpstream,
  upstream: string | undefined,
  options: ServerOptions,
): Promise<Fleet | undefined> {
  const { shared: url, maxSandboxes = DEFAULTS.maxSandboxes } = options;
  if (url === undefined) return undefined;
  const [{ joinFleet }, { fleetSettings }] = await Promise.all([
    import('./storage/redis/fleet.ts'),
    import('./storage/redis/fleet-settings.ts'),
  ]);
  const settings = fleetSettings(start, { ...options, upstream });
  return joinFleet({ url, settings, maxSandboxes, openUpstream, options });
}

/** Hard to guess, and short enough to be copied by hand: 128 bits. */
function drawToken(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('base64url');
}

const EVERY_ADDRESS = /^(?:0\.0\.0\.0|::|::ffff:(?:0\.0\.0\.0|0:0))$/;

/**
 * The service's base URL on a server.
 *
 * @param host the name or address that the server was told to listen on
 * @param bound where it listens
 */
export function urlOf(scheme: string, host: string, { address, port }: AddressInfo): string {
  // Clients cannot connect to the wildcard address.
  const name = EVERY_ADDRESS.test(address) ? 'localhost' : host;
  return `${scheme}://${name.includes(':') ? `[${name}]` : name}:${port}${BASE_PATH}`;
}
