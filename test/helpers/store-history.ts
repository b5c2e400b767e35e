import { firstUnexplained, type Model, type Operation } from './linearizability.ts';

/** What a client did to one order, entry or animal. Without a status, it does not know what became of it. */
export type Step =
  | { readonly kind: 'cancel'; readonly status?: number | undefined }
  | { readonly kind: 'rearm' }
  | { readonly kind: 'write' | 'read'; readonly quantity: number }
  | { readonly kind: 'create' }
  | { readonly kind: 'get'; readonly status: number };

type Event = Operation<Step>;

/** An order: pending until the one 204, and again when the control API sets it to pending. */
const ORDER: Model<string, Step> = {
  initial: 'pending',
  after: (state, step) => {
    if (step.kind === 'rearm') return 'pending';
    if (step.kind !== 'cancel') return undefined;
    const status = state === 'pending' ? 204 : 409;
    return step.status === undefined || step.status === status ? 'cancelled' : undefined;
  },
  isRead: (step) => step.kind === 'cancel' && step.status === 409,
};

/** An animal that no fixture has: created once, and there from then on. */
const ANIMAL: Model<string, Step> = {
  initial: 'absent',
  after: (state, step) => {
    if (step.kind === 'create') return state === 'absent' ? 'present' : undefined;
    const status = state === 'present' ? 200 : 404;
    return step.kind === 'get' && step.status === status ? state : undefined;
  },
  isRead: ({ kind }) => kind === 'get',
};

/** The quantity of an inventory entry. */
function entryFrom(initial: number): Model<number, Step> {
  return {
    initial,
    after: (state, step) => {
      if (step.kind === 'write') return step.quantity;
      return step.kind === 'read' && step.quantity === state ? state : undefined;
    },
    isRead: ({ kind }) => kind === 'read',
  };
}

/** What the clients of a store did and saw, for each order, inventory entry and created animal. */
export class StoreHistory {
  readonly #orders = new Map<number, Event[]>();
  readonly #entries = new Map<number, Event[]>();
  readonly #animals = new Map<number, Event[]>();
  /** When creations were sent of which nobody knows whether they were made, and under which id. */
  readonly #unknownCreations: number[] = [];
  readonly #quantities: ReadonlyMap<number, number>;
  #now = 0;

  /** @param quantities those of the inventory entries at the start */
  constructor(quantities: ReadonlyMap<number, number>) {
    this.#quantities = quantities;
  }

  /** The time of the next event. */
  tick(): number {
    this.#now += 1;
    return this.#now;
  }

  order(id: number, step: Step, sent: number, replied = this.tick()): void {
    add(this.#orders, id, { step, sent, replied });
  }

  entry(petId: number, step: Step, sent: number, replied = this.tick()): void {
    add(this.#entries, petId, { step, sent, replied });
  }

  animal(id: number, step: Step, sent: number): void {
    add(this.#animals, id, { step, sent, replied: this.tick() });
  }

  unknownCreation(sent: number): void {
    this.#unknownCreations.push(sent);
  }

  get size(): number {
    const all = [this.#orders, this.#entries, this.#animals];
    return all
      .flatMap((events) => [...events.values()])
      .reduce((sum, { length }) => sum + length, 0);
  }

  /** What nobody can explain if all servers are one: a line for each object. */
  problems(): readonly string[] {
    const problems: string[] = [];
    const check = <State extends string | number>(
      what: string,
      events: readonly Event[],
      model: Model<State, Step>,
    ): void => {
      const event = firstUnexplained(events, model);
      if (event !== undefined) problems.push(`${what}: ${JSON.stringify(event)}`);
    };
    for (const [id, events] of this.#orders) check(`order ${id}`, events, ORDER);
    for (const [petId, events] of this.#entries) {
      check(`entry ${petId}`, withoutUnseen(events), entryFrom(this.#quantities.get(petId) ?? 0));
    }
    const creations = [...this.#unknownCreations];
    for (const [id, events] of [...this.#animals].sort(([a], [b]) => a - b)) {
      check(`animal ${id}`, this.#withCreation(events, creations), ANIMAL);
    }
    return problems;
  }

  /** The animal that a client got although no reply created it is that of an unknown creation. */
  #withCreation(events: readonly Event[], creations: number[]): readonly Event[] {
    const isCreated = events.some(({ step }) => step.kind === 'create');
    const isSeen = events.some(({ step }) => step.kind === 'get' && step.status === 200);
    const sent = isSeen && !isCreated ? creations.shift() : undefined;
    if (sent === undefined) return events;
    return [...events, { step: { kind: 'create' }, sent, replied: Number.POSITIVE_INFINITY }];
  }
}

function add(events: Map<number, Event[]>, id: number, event: Event): void {
  const known = events.get(id);
  if (known === undefined) events.set(id, [event]);
  else known.push(event);
}

/**
 * Ends the writes of unknown outcome with the first reply that shows their quantity. Leaves out those
 * that nobody saw: as good as never made.
 */
function withoutUnseen(events: readonly Event[]): readonly Event[] {
  const shown = new Map<number, number>();
  for (const { step, replied } of events) {
    if (step.kind !== 'read') continue;
    shown.set(step.quantity, Math.min(replied, shown.get(step.quantity) ?? replied));
  }
  return events.flatMap((event) => {
    const { step, replied } = event;
    if (replied !== Number.POSITIVE_INFINITY || step.kind !== 'write') return event;
    const seen = shown.get(step.quantity);
    // A write and a read that end alike would tie: the write ends just before.
    return seen === undefined ? [] : { ...event, replied: seen - 0.5 };
  });
}
