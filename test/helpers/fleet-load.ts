import { expect } from 'vitest';
import { draw } from '../../src/store/draw.ts';
import type { FleetProcesses, Outcome } from './fleet-processes.ts';
import { StoreHistory } from './store-history.ts';

/** Few, so that clients meet. The default fixture has them, and these orders are pending. */
const ENTRIES = 5;
const ORDERS = [1, 4, 5];

/** The highest id of the default fixture. */
const LAST_ID = 64;

const NEVER = Number.POSITIVE_INFINITY;

/** A count that lost replies may have raised. */
interface Tally {
  acknowledged: number;
  unknown: number;
}

/** Clients that use a fleet at once, each any server in turn, and note what they saw. */
export class FleetLoad {
  readonly #fleet: FleetProcesses;
  readonly #history: StoreHistory;
  readonly #created: Tally = { acknowledged: 0, unknown: 0 };
  readonly #cancelled: Tally = { acknowledged: 0, unknown: 0 };
  readonly #clients: Promise<void>[] = [];
  readonly #counters = new Set<() => void>();
  #quantity = 1000;
  #latest = LAST_ID;
  #isOver = false;
  #count = 0;

  private constructor(fleet: FleetProcesses, quantities: ReadonlyMap<number, number>) {
    this.#fleet = fleet;
    this.#history = new StoreHistory(quantities);
  }

  /** Starts so many clients, whose requests depend on a seed. */
  static async start(fleet: FleetProcesses, clients: number, seed = 1): Promise<FleetLoad> {
    const { json } = await fleet.answer(0, 'GET', '/__mock/inventory');
    const load = new FleetLoad(fleet, quantitiesOf(json));
    for (let client = 0; client < clients; client += 1) load.#clients.push(load.#run(client, seed));
    return load;
  }

  /** Waits for so many more replies. */
  async replies(count: number): Promise<void> {
    const until = this.#count + count;
    while (this.#count < until) {
      const counted = new Promise<void>((resolve) => this.#counters.add(resolve));
      // Clients end before their time when a reply is wrong.
      await Promise.race([counted, Promise.all(this.#clients)]);
    }
  }

  /** Ends the clients. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
  }

  /** Stops the clients, and compares what they saw with a model of one server. */
  async verify(): Promise<void> {
    await this.stop();
    expect(this.#history.problems()).toEqual([]);
    for (let server = 0; server < this.#fleet.count; server += 1) await this.#verify(server);
  }

  async #verify(server: number): Promise<void> {
    const count = async (body: object): Promise<number> => {
      const { json } = await this.#fleet.answer(server, 'POST', '/__mock/requests/count', body);
      expect(json).toMatchObject({ complete: true });
      return Object(json).count;
    };
    const { json } = await this.#fleet.answer(server, 'GET', '/__mock/state');
    const animals = Object(json).animals.length - LAST_ID;
    expect(await count({ operation: 'createPet', status: 201 })).toBe(animals);
    expectWithin(animals, this.#created);
    const cancelled = await count({ operation: 'cancelOrder', status: 204 });
    expectWithin(cancelled, this.#cancelled);
  }

  async #run(client: number, seed: number): Promise<void> {
    for (let turn = 0; !this.#isOver; turn += 1) {
      const server = (client + turn) % this.#fleet.count;
      const pick = (field: number, choices: number): number =>
        draw(seed + client, turn, field) % choices;
      const isKnown = await this.#act(server, pick(0, 7), pick(1, ENTRIES * ORDERS.length));
      if (!isKnown) continue;
      this.#count += 1;
      for (const counted of this.#counters) counted();
      this.#counters.clear();
    }
  }

  /** Does one thing. False if no reply came of it. */
  async #act(server: number, kind: number, choice: number): Promise<boolean> {
    const order = ORDERS[choice % ORDERS.length] ?? 1;
    if (kind < 2) return this.#write(server, 1 + (choice % ENTRIES));
    if (kind < 4) return this.#read(server);
    if (kind === 4) return this.#cancel(server, order);
    if (kind === 5) return this.#rearm(server, order);
    return choice % 3 === 0 ? this.#create(server) : this.#get(server, this.#latest + (choice % 2));
  }

  async #write(server: number, petId: number): Promise<boolean> {
    this.#quantity += 1;
    const quantity = this.#quantity;
    const sent = this.#history.tick();
    const path = `/v1/inventory/${petId}`;
    const outcome = await this.#fleet.ask(server, 'PATCH', path, { quantity });
    const step = { kind: 'write', quantity } as const;
    if (outcome === 'unknown') this.#history.entry(petId, step, sent, NEVER);
    else if (hasStatus(outcome, 200)) this.#history.entry(petId, step, sent);
    return isReply(outcome);
  }

  async #read(server: number): Promise<boolean> {
    const sent = this.#history.tick();
    const outcome = await this.#fleet.ask(server, 'GET', '/v1/inventory');
    if (!hasStatus(outcome, 200)) return false;
    const replied = this.#history.tick();
    for (const [petId, quantity] of quantitiesOf(outcome.json)) {
      if (petId <= ENTRIES) this.#history.entry(petId, { kind: 'read', quantity }, sent, replied);
    }
    return true;
  }

  async #cancel(server: number, id: number): Promise<boolean> {
    const sent = this.#history.tick();
    const outcome = await this.#fleet.ask(server, 'DELETE', `/v1/store/orders/${id}`);
    if (outcome === 'unknown') {
      this.#cancelled.unknown += 1;
      this.#history.order(id, { kind: 'cancel' }, sent, NEVER);
    } else if (outcome !== 'not done') {
      if (outcome.status === 204) this.#cancelled.acknowledged += 1;
      this.#history.order(id, { kind: 'cancel', status: outcome.status }, sent);
    }
    return isReply(outcome);
  }

  async #rearm(server: number, id: number): Promise<boolean> {
    const sent = this.#history.tick();
    const body = { status: 'pending' };
    const outcome = await this.#fleet.ask(server, 'PATCH', `/__mock/orders/${id}`, body);
    if (outcome === 'unknown') this.#history.order(id, { kind: 'rearm' }, sent, NEVER);
    else if (hasStatus(outcome, 200)) this.#history.order(id, { kind: 'rearm' }, sent);
    return isReply(outcome);
  }

  async #create(server: number): Promise<boolean> {
    const sent = this.#history.tick();
    const body = { name: 'Rex', categoryId: 1 };
    const outcome = await this.#fleet.ask(server, 'POST', '/v1/pets', body);
    if (outcome === 'unknown') {
      this.#created.unknown += 1;
      this.#history.unknownCreation(sent);
    } else if (hasStatus(outcome, 201)) {
      const { id } = Object(outcome.json);
      this.#created.acknowledged += 1;
      this.#latest = Math.max(this.#latest, id);
      this.#history.animal(id, { kind: 'create' }, sent);
    }
    return isReply(outcome);
  }

  async #get(server: number, id: number): Promise<boolean> {
    if (id <= LAST_ID) return true;
    const sent = this.#history.tick();
    const outcome = await this.#fleet.ask(server, 'GET', `/v1/pets/${id}`);
    if (isReply(outcome)) this.#history.animal(id, { kind: 'get', status: outcome.status }, sent);
    return isReply(outcome);
  }
}

function quantitiesOf(entries: unknown): ReadonlyMap<number, number> {
  if (!Array.isArray(entries)) throw new TypeError('no inventory');
  return new Map(entries.map(({ petId, quantity }) => [petId, quantity]));
}

type Reply = Exclude<Outcome, string>;

function isReply(outcome: Outcome): outcome is Reply {
  return typeof outcome !== 'string';
}

/** @throws if there is a reply with another status */
function hasStatus(outcome: Outcome, status: number): outcome is Reply {
  if (!isReply(outcome)) return false;
  expect(outcome).toMatchObject({ status });
  return true;
}

function expectWithin(count: number, { acknowledged, unknown }: Tally): void {
  expect(count).toBeGreaterThanOrEqual(acknowledged);
  expect(count).toBeLessThanOrEqual(acknowledged + unknown);
}
