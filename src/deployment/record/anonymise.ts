import { createHmac } from 'node:crypto';
import type { Animal } from '../../contract/records.ts';
import type { Store } from '../../store/store.ts';

/** Hexadecimal digits that tell names apart: 48 bits. */
const DIGITS = 12;

/**
 * A copy of a store with other names for its animals. Equal names stay equal, even across
 * recordings with the same secret. Without the secret, nobody can find a name by trying candidates.
 */
export function anonymised(store: Store, secret: string): Store {
  const animals = store.animals.map((it) => ({ ...it, name: pseudonym(it, secret) }));
  return { ...store, animals };
}

function pseudonym({ name }: Animal, secret: string): string {
  const digest = createHmac('sha256', secret).update(name).digest('hex');
  return `Animal ${digest.slice(0, DIGITS)}`;
}
