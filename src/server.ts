import type { Server } from 'node:http';
import { BASE_PATH } from './contract/operations.ts';
import { createListener, type Timeouts } from './http/listener.ts';
import { createServiceHandler } from './http/service.ts';
import { createWorlds, type WorldSettings } from './simulation/worlds.ts';
import { loadFixture } from './store/fixture.ts';
import type { StoreBase } from './store/store.ts';

/** How to start a server; what is left out takes the default of the flag of the same name. */
export interface ServerOptions extends WorldSettings {
  readonly host?: string | undefined;
  /** 0 takes any free port. */
  readonly port?: number | undefined;
  /** The name of a fixture that the package ships, or the path of one. */
  readonly fixture?: string | undefined;
  /** How many animals and orders to generate in place of a fixture. */
  readonly animals?: number | undefined;
  readonly orders?: number | undefined;
  /** Leaves out everything that tells the mock from the service. */
  readonly plain?: boolean | undefined;
  readonly timeouts?: Partial<Timeouts> | undefined;
}

export interface RunningServer {
  /** The service's base URL, such as `http://127.0.0.1:4010/v1`. */
  readonly url: string;
  readonly port: number;
  /** Finishes what is in flight, then closes. */
  close(): Promise<void>;
}

const DEFAULT_PORT = 4010;
const DEFAULT_HOST = '127.0.0.1';

/** What `--animals` and `--orders` are where only the other one is given. */
const GENERATED_ANIMALS = 64;
const GENERATED_ORDERS = 14;

/**
 * Starts a server and waits until it answers.
 *
 * @throws FixtureError where the fixture is broken, and Node's own errors where the port is taken
 *   or may not be used
 */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const { host = DEFAULT_HOST, port = DEFAULT_PORT, plain = false, timeouts } = options;
  const worlds = createWorlds(await startingBase(options), options);
  const world = worlds(undefined);
  if (world === undefined) throw new Error('There is no default world.');
  const service = createServiceHandler({ worlds, plain });
  const loadApp = async () => (await import('./control/app.ts')).createExpressApp(service);
  const server = createListener({ service, loadApp, world, plain, timeouts });
  await listen(server, port, host);
  return { ...addressOf(server, host), close: () => close(server) };
}

async function startingBase({
  fixture,
  animals,
  orders,
  seed = 1,
}: ServerOptions): Promise<StoreBase> {
  if (animals === undefined && orders === undefined) return loadFixture(fixture ?? 'default');
  const { generateStore } = await import('./store/generate.ts');
  return generateStore({
    animals: animals ?? GENERATED_ANIMALS,
    orders: orders ?? GENERATED_ORDERS,
    seed,
  });
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function addressOf(server: Server, host: string): { url: string; port: number } {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  // An address that stands for all of them is none that a client can use.
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  const authority = name.includes(':') ? `[${name}]` : name;
  return { url: `http://${authority}:${address.port}${BASE_PATH}`, port: address.port };
}

/** How often connections that have finished their request are closed, in milliseconds. */
const CLOSE_IDLE_EVERY = 20;

/** Takes no new connections, and closes each open one when its request has been answered. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const sweep = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY);
    server.close(() => {
      clearInterval(sweep);
      resolve();
    });
  });
}
