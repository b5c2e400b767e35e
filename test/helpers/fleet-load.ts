import { expect } from 'vitest';
import { randomInteger } from '../../src/store/random.ts';
import type { FleetProcesses, Outcome } from './fleet-processes.ts';

/** Few, so that clients meet. The default fixture has them. */
const ENTRIES = 5;

/** The highest id of the default fixture. */
const LAST_ID = 64;

/** Orders that the clients cancel, some at a time. */
const ORDERS = Array.from({ length: 2000 }, (_, index) => 1001 + index);

const CLIENTS = 9;

/** What a client sent, and when by a clock that counts events. */
interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: { readonly quantity: number } | object;
  readonly sentAt: number;
  /** Never, if no reply says what became of it. */
  repliedAt: number;
  outcome: Outcome;
}

/** Clients that use a fleet at once, each any server in turn, and note what they saw. */
export class FleetLoad {
  readonly #fleet: FleetProcesses;
  readonly #requests: Request[] = [];
  readonly #clients: Promise<void>[] = [];
  readonly #counters = new Set<() => void>();
  #isOver = false;
  #count = 0;
  #time = 0;

  private constructor(fleet: FleetProcesses) {
    this.#fleet = fleet;
  }

  /** Starts the clients. */
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
    while (this.#count < until) {
      const counted = new Promise<void>((resolve) => this.#counters.add(resolve));
      // Clients end before their time when something throws.
      await Promise.race([counted, Promise.all(this.#clients)]);
    }
  }

  async #run(client: number): Promise<void> {
    for (let turn = 0; !this.#isOver; turn += 1) {
      const server = (client + turn) % this.#fleet.count;
      const pick = (field: number, choices: number): number =>
        randomInteger(client, turn, field) % choices;
      if (typeof (await this.#send(server, pick)) === 'string') continue;
      this.#count += 1;
      for (const counted of this.#counters) counted();
      this.#counters.clear();
    }
  }

  async #send(server: number, pick: (field: number, choices: number) => number): Promise<Outcome> {
    const number = this.#requests.length;
    const known = Math.floor(this.#count / 20);
    const drawn = [
      {
        method: 'PATCH',
        path: `/v1/inventory/${1 + pick(1, ENTRIES)}`,
        body: { quantity: number },
      },
      { method: 'GET', path: '/v1/inventory' },
      { method: 'DELETE', path: `/v1/store/orders/${ORDERS[known]}` },
      { method: 'POST', path: '/v1/pets', body: { name: 'Rex', categoryId: 1 } },
      { method: 'GET', path: `/v1/pets/${LAST_ID + 1 + pick(1, 1 + 5 * known)}` },
    ][pick(0, 5)];
    if (drawn === undefined) throw new Error('nothing drawn');
    this.#time += 1;
    const request: Request = {
      ...drawn,
      sentAt: this.#time,
      repliedAt: Number.POSITIVE_INFINITY,
      outcome: 'unknown',
    };
    this.#requests.push(request);
    const { method, path, body } = request;
    request.outcome = await this.#fleet.ask(server, method, `${path}?request=${number}`, body);
    this.#time += 1;
    if (request.outcome !== 'unknown') request.repliedAt = this.#time;
    return request.outcome;
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
    const model = new StoreModel();
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
      const expected = model.reply(request);
      expect({ target, status }).toEqual({ target, status: expected.status });
      if (request.outcome !== 'unknown') expect(request.outcome).toMatchObject(expected);
    }
    expect([...left].filter(({ outcome }) => typeof outcome !== 'string')).toEqual([]);
    for (let server = 0; server < this.#fleet.count; server += 1) {
      const state = await this.#fleet.answer(server, 'GET', '/__mock/state');
      expect(model.resultOf(Object(state.json))).toEqual(model.result);
    }
  }
}

type Records = readonly Readonly<Record<string, unknown>>[];

/** What the clients use of a store. */
class StoreModel {
  readonly #quantities = new Map<number, number>();
  readonly #pending = new Set(ORDERS);
  #lastId = LAST_ID;

  reply({ method, path, body }: Request): { readonly status: number; readonly json?: unknown } {
    const id = Number(path.split('/').at(-1));
    switch (`${method} ${path.replace(/\/\d+$/, '')}`) {
      case 'PATCH /v1/inventory':
        this.#quantities.set(id, Object(body).quantity);
        return { status: 200, json: { petId: id, ...body } };
      case 'GET /v1/inventory': {
        const known = [...this.#quantities].map(([petId, quantity]) => ({ petId, quantity }));
        return {
          status: 200,
          json: expect.arrayContaining(known.map((it) => expect.objectContaining(it))),
        };
      }
      case 'DELETE /v1/store/orders':
        return { status: this.#pending.delete(id) ? 204 : 409 };
      case 'POST /v1/pets':
        this.#lastId += 1;
        return { status: 201, json: { id: this.#lastId } };
      default:
        return { status: id <= this.#lastId ? 200 : 404 };
    }
  }

  get result(): object {
    const { size } = this.#pending;
    return { quantities: this.#quantities, pending: size, lastId: this.#lastId };
  }

  /** The same of the state of a server. */
  resultOf({ animals, inventory, orders }: Readonly<Record<string, Records>>): object {
    const quantities = inventory?.map(({ petId, quantity }) => [petId, quantity] as const) ?? [];
    return {
      quantities: new Map(quantities.filter(([petId]) => this.#quantities.has(Number(petId)))),
      pending: orders?.filter(({ id, status }) => Number(id) > 1000 && status === 'pending').length,
      lastId: animals?.at(-1)?.id,
    };
  }
}
