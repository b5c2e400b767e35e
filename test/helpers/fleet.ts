import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { randomInteger } from '../../src/core/store/random.ts';
import { type RunningCommand, startCommand } from './command.ts';
import { RedisServer } from './redis.ts';
import { type Answer, asker } from './wire.ts';

/** What became of a request. Without a reply that tells, it may have been done or not. */
export type Outcome = Answer | 'unknown' | 'not done';

/**
 * Three servers over a Redis that syncs each change to its disk. Their journals drop nothing.
 *
 * @param through makes the port through which the first one reaches Redis
 */
export async function startThree(
  through: (port: number) => Promise<number> = async (port) => port,
) {
  const redis = await RedisServer.start('--appendonly', 'yes', '--appendfsync', 'always');
  const first = redis.url.replace(String(redis.port), String(await through(redis.port)));
  const fleet = new FleetProcesses([first, redis.url, redis.url]);
  onTestFinished(async () => {
    await fleet.stop();
    await redis.end();
  });
  await fleet.start();
  return { redis, fleet };
}

/** The servers of a fleet, each a process. */
class FleetProcesses {
  readonly #addresses: readonly string[];
  #servers: readonly RunningCommand[] = [];

  /** @param addresses that of the Redis, as each server sees it */
  constructor(addresses: readonly string[]) {
    this.#addresses = addresses;
  }

  async start(): Promise<void> {
    this.#servers = await Promise.all(this.#addresses.map(startServer));
  }

  get count(): number {
    return this.#servers.length;
  }

  async ask(index: number, method: string, path: string, body?: object): Promise<Outcome> {
    const port = Number(new URL(this.#server(index).url).port);
    try {
      const answer = await asker(port, '')(method, path, body && { body });
      if (answer.status !== 503) return answer;
      expect(answer.json).toMatchObject({ code: 'not_saved' });
      return answer.text.includes('the change may have been made') ? 'unknown' : 'not done';
    } catch (error) {
      return Object(error).code === 'ECONNREFUSED' ? 'not done' : 'unknown';
    }
  }

  /** The reply of a server as soon as it has one that tells. */
  async answer(index: number, method: string, path: string, body?: object): Promise<Answer> {
    for (;;) {
      const outcome = await this.ask(index, method, path, body);
      if (typeof outcome !== 'string') return outcome;
      await sleep(50);
    }
  }

  /** Waits until the health of a server has this status. */
  async becomes(index: number, status: number): Promise<void> {
    const { url } = this.#server(index);
    while ((await fetch(new URL('/__mock/health', url))).status !== status) await sleep(20);
  }

  async allBecome(status: number): Promise<void> {
    await Promise.all(this.#addresses.map((_, index) => this.becomes(index, status)));
  }

  signal(index: number, signal: NodeJS.Signals): void {
    this.#server(index).process.kill(signal);
  }

  /** Ends a server with kill -9 and starts another in its place. */
  async replace(index: number): Promise<void> {
    const { process, exited } = this.#server(index);
    process.kill('SIGKILL');
    await exited;
    const server = await startServer(this.#addresses[index] ?? '');
    this.#servers = this.#servers.with(index, server);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop()));
  }

  #server(index: number): RunningCommand {
    const server = this.#servers[index];
    if (server === undefined) throw new Error(`There is no server ${index}.`);
    return server;
  }
}

function startServer(redis: string): Promise<RunningCommand> {
  const flags = ['--port', '0', '--log', 'off', '--journal', '100000', '--drain', 'PT0S'];
  return startCommand([...flags, '--shared', redis]);
}

/** Few, so that clients meet. The default fixture has them. */
const ENTRIES = 5;

/** Orders that the clients cancel, some at a time. */
const ORDERS = Array.from({ length: 2000 }, (_, index) => 1001 + index);

const CLIENTS = 9;

/** What the clients use of the store of one server. */
interface Model {
  readonly quantities: Map<number, number>;
  readonly pending: Set<number>;
  lastId: number;
}

const newModel = (): Model => ({ quantities: new Map(), pending: new Set(ORDERS), lastId: 64 });

interface Drawn {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  /** Does the same to a model. */
  readonly run: (model: Model) => { readonly status: number; readonly json?: unknown };
}

/** What a client sent, and when by a clock that counts events. */
interface Request extends Drawn {
  readonly sentAt: number;
  /** Never, if no reply says what became of it. */
  repliedAt: number;
  outcome: Outcome;
}

/** @param count of the replies to all clients so far */
function drawRequest(quantity: number, count: number, pick: (field: number, of: number) => number) {
  const known = Math.floor(count / 20);
  const petId = 1 + pick(1, ENTRIES);
  const id = newModel().lastId + 1 + pick(1, 1 + 5 * known);
  const order = ORDERS[known] ?? 0;
  const kinds: readonly Drawn[] = [
    {
      method: 'PATCH',
      path: `/v1/inventory/${petId}`,
      body: { quantity },
      run: ({ quantities }) => {
        quantities.set(petId, quantity);
        return { status: 200, json: { petId, quantity } };
      },
    },
    {
      method: 'GET',
      path: '/v1/inventory',
      run: ({ quantities }) => {
        const entries = [...quantities].map(([of, left]) => ({ petId: of, quantity: left }));
        const listed = entries.map((entry) => expect.objectContaining(entry));
        return { status: 200, json: expect.arrayContaining(listed) };
      },
    },
    {
      method: 'DELETE',
      path: `/v1/store/orders/${order}`,
      run: ({ pending }) => ({ status: pending.delete(order) ? 204 : 409 }),
    },
    {
      method: 'POST',
      path: '/v1/pets',
      body: { name: 'Rex', categoryId: 1 },
      run: (model) => {
        model.lastId += 1;
        return { status: 201, json: { id: model.lastId } };
      },
    },
    {
      method: 'GET',
      path: `/v1/pets/${id}`,
      run: ({ lastId }) => ({ status: id <= lastId ? 200 : 404 }),
    },
  ];
  const drawn = kinds[pick(0, kinds.length)];
  if (drawn === undefined) throw new Error('nothing drawn');
  return drawn;
}

/** Clients that use a fleet at once, each any server in turn, and note what they saw. */
export class FleetLoad {
  readonly #fleet: FleetProcesses;
  readonly #requests: Request[] = [];
  readonly #clients: Promise<void>[] = [];
  #isOver = false;
  /** Otherwise they pause between their calls: a fleet in trouble needs the processor to recover. */
  #isHurried = false;
  #count = 0;
  #time = 0;

  private constructor(fleet: FleetProcesses) {
    this.#fleet = fleet;
  }

  static async start(fleet: FleetProcesses): Promise<FleetLoad> {
    const orders = ORDERS.map((id) => ({ id, status: 'pending' }));
    await fleet.answer(0, 'PATCH', '/__mock/state', { orders });
    const load = new FleetLoad(fleet);
    for (let client = 0; client < CLIENTS; client += 1) load.#clients.push(load.#run(client));
    return load;
  }

  /** Waits for so many more replies. */
  async replies(count: number): Promise<void> {
    const until = this.#count + count;
    this.#isHurried = true;
    // Clients end before their time when something throws.
    while (this.#count < until) await Promise.race([sleep(5), Promise.all(this.#clients)]);
    this.#isHurried = false;
  }

  async #run(client: number): Promise<void> {
    for (let turn = 0; !this.#isOver; turn += 1) {
      const number = this.#requests.length;
      const pick = (field: number, of: number) => randomInteger(client, turn, field) % of;
      const drawn = drawRequest(number, this.#count, pick);
      this.#time += 1;
      const request: Request = {
        ...drawn,
        sentAt: this.#time,
        repliedAt: Number.POSITIVE_INFINITY,
        outcome: 'unknown',
      };
      this.#requests.push(request);
      const { method, path, body } = drawn;
      const server = (client + turn) % this.#fleet.count;
      request.outcome = await this.#fleet.ask(server, method, `${path}?request=${number}`, body);
      this.#time += 1;
      if (request.outcome !== 'unknown') request.repliedAt = this.#time;
      if (typeof request.outcome !== 'string') this.#count += 1;
      if (!this.#isHurried) await sleep(50);
    }
  }

  /**
   * Stops the clients, and does what they did on a model of one server, in the order of the journal. The
   * model gives the same replies, no request comes before one that had its reply when it was sent,
   * and all servers are left with what the model has.
   */
  async verify(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    const { json } = await this.#fleet.answer(0, 'GET', '/__mock/requests');
    const { exchanges, dropped } = Object(json);
    expect(dropped).toBe(0);
    const model = newModel();
    const left = new Set(this.#requests);
    let latest = 0;
    for (const { target, status } of exchanges) {
      const [path = '', number] = target.split('?request=');
      const request = number === undefined ? undefined : this.#requests[number];
      if (request === undefined) continue;
      expect(left.delete(request)).toBe(true);
      expect(request.path).toBe(path);
      expect(request.repliedAt).toBeGreaterThan(latest);
      latest = Math.max(latest, request.sentAt);
      const expected = request.run(model);
      expect({ target, status }).toEqual({ target, status: expected.status });
      if (request.outcome !== 'unknown') expect(request.outcome).toMatchObject(expected);
    }
    expect([...left].filter(({ outcome }) => typeof outcome !== 'string')).toEqual([]);
    for (let server = 0; server < this.#fleet.count; server += 1) {
      const state = await this.#fleet.answer(server, 'GET', '/__mock/state');
      const { animals, inventory, orders } = Object(state.json);
      const entries = [...model.quantities].map(([petId, quantity]) => ({ petId, quantity }));
      for (const entry of entries) {
        expect(inventory).toContainEqual(expect.objectContaining(entry));
      }
      const pending = [...model.pending].map((id) =>
        expect.objectContaining({ id, status: 'pending' }),
      );
      expect(orders.slice(-ORDERS.length).filter(isPending)).toEqual(pending);
      expect(animals.at(-1).id).toBe(model.lastId);
    }
  }
}

function isPending({ status }: { readonly status: string }): boolean {
  return status === 'pending';
}
