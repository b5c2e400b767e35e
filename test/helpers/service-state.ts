import type { Choices } from '../../src/core/contract/assumption-table.ts';
import { readServiceState } from '../../src/core/sandbox/answer.ts';
import { createStart } from '../../src/core/sandbox/start.ts';
import { initialState } from '../../src/core/sandbox/state.ts';
import type { ServiceState } from '../../src/core/service/operation.ts';
import type { Store } from '../../src/core/store/store.ts';

/** What operations see of a new sandbox with a store. */
export function serviceStateWith(
  store: Store,
  now = 0,
  assume: Partial<Choices> = {},
): ServiceState {
  return readServiceState(initialState(createStart({ assume }, store), now), now);
}
