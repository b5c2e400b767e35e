import type { Choices } from '../../src/contract/assumption-table.ts';
import { readServiceState } from '../../src/sandbox/answer.ts';
import { initialState } from '../../src/sandbox/state.ts';
import { createStart } from '../../src/scenario/sandbox-start.ts';
import type { ServiceState } from '../../src/service/operation.ts';
import type { Store } from '../../src/store/store.ts';

/** What operations see of a new sandbox with a store. */
export function serviceStateWith(
  store: Store,
  now = 0,
  assume: Partial<Choices> = {},
): ServiceState {
  return readServiceState(initialState(createStart({ assume }, store), undefined, now), now);
}
