import fc from 'fast-check';
import { expect } from 'vitest';
import { INT64_MAX } from '../../src/contract/int64.ts';
import { type Ask, asker } from './ask.ts';

/** What a client does, and what the model of its sandbox expects of it. */
type Step =
  | { readonly kind: 'create'; readonly name: string }
  | { readonly kind: 'read'; readonly pick: number }
  | { readonly kind: 'cancel'; readonly order: number }
  | { readonly kind: 'restock'; readonly petId: number; readonly quantity: number }
  | { readonly kind: 'stock'; readonly petId: number };

export const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), name: fc.string({ minLength: 1 }) }),
  fc.record({ kind: fc.constant('read' as const), pick: fc.nat(20) }),
  fc.record({ kind: fc.constant('cancel' as const), order: fc.constantFrom(1, 2, 3, 4, 5) }),
  fc.record({
    kind: fc.constant('restock' as const),
    petId: fc.integer({ min: 1, max: 5 }),
    quantity: fc.nat(100),
  }),
  fc.record({ kind: fc.constant('stock' as const), petId: fc.integer({ min: 1, max: 5 }) }),
);

/** The default fixture has the animals 1 to 64. */
const FIRST_NEW_ID = 65;

/** A model of one sandbox over the default fixture, which knows only what its own client did. */
export class SandboxModel {
  readonly #names: string[] = [];
  readonly #orders = new Map([
    [1, 204],
    [2, 409],
    [3, 409],
    [4, 204],
    [5, 204],
  ]);
  readonly #stock = new Map<number, number>();

  async take(ask: Ask, it: Step): Promise<void> {
    switch (it.kind) {
      case 'create': {
        const body = { name: it.name, categoryId: INT64_MAX };
        const id = FIRST_NEW_ID + this.#names.length;
        const { status, json } = await ask('POST', '/pets', { body });
        expect({ status, json }).toEqual({ status: 201, json: { id, ...body } });
        this.#names.push(it.name);
        return;
      }
      case 'read': {
        const { status, json } = await ask('GET', `/pets/${FIRST_NEW_ID + it.pick}`);
        const name = this.#names[it.pick];
        if (name === undefined) expect(status).toBe(404);
        else expect(json).toMatchObject({ name });
        return;
      }
      case 'cancel': {
        const { status } = await ask('DELETE', `/store/orders/${it.order}`);
        expect(status).toBe(this.#orders.get(it.order));
        this.#orders.set(it.order, 409);
        return;
      }
      case 'restock': {
        const { quantity, petId } = it;
        const body = { quantity };
        const { json } = await ask('PATCH', `/inventory/${petId}`, { body });
        expect(json).toMatchObject({ petId, quantity });
        this.#stock.set(petId, quantity);
        return;
      }
      case 'stock': {
        const quantity = this.#stock.get(it.petId);
        if (quantity === undefined) return;
        const { json } = await ask('GET', '/inventory');
        expect(json).toContainEqual(expect.objectContaining({ petId: it.petId, quantity }));
      }
    }
  }
}

/** Clients that each do 10 to 20 steps in a sandbox of their own, all at once. */
export async function runClientsAtOnce(port: number, clients: number): Promise<void> {
  const script = fc.array(step, { minLength: 10, maxLength: 20 });
  await Promise.all(
    fc.sample(script, { numRuns: clients, seed: 42 }).map(async (steps, client) => {
      const model = new SandboxModel();
      const ask = asker(port, `/~client-${client}/v1`);
      for (const it of steps) await model.take(ask, it);
    }),
  );
}
