import { writeJson } from '../../src/contract/json.ts';
import { COLLECTIONS } from '../../src/contract/records.ts';
import type { Store } from '../../src/store/store.ts';

/** The records of a store and the highest ids, exactly. */
export function stateText(store: Store): string {
  return COLLECTIONS.map((name) => {
    const { highestId } = store[name];
    return `${name} to ${highestId}: ${writeJson([...store[name].ascending()])}`;
  }).join('\n');
}
