import { parseJson } from '../contract/json.ts';
import type { Start } from '../scenario/sandbox-start.ts';
import { object, optional } from '../shape/objects.ts';
import { readAs } from '../shape/read-as.ts';
import { STORE_CHANGE, storeChangeText } from '../store/log/change-text.ts';
import { RecordedStore } from '../store/log/recorded-store.ts';
import type { LogTexts } from '../store/log/redis-log.ts';
import { forkStore } from '../store/store.ts';
import type { Change, SandboxSnapshot } from './change.ts';

const CHANGE = object({ store: optional(STORE_CHANGE, 'Changed records.') });

/** How the log of a sandbox that starts from `start` is written. */
export function logTexts(start: Start): LogTexts<Change, SandboxSnapshot> {
  return {
    writeEntry: ({ store }) => (store === undefined ? '{}' : `{"store":${storeChangeText(store)}}`),
    readEntry: readChange,
    writeSnapshot: ({ store }) =>
      storeChangeText({
        animals: { from: store.animals },
        inventory: { from: store.inventory },
        orders: { from: store.orders },
      }),
    readSnapshot: (text) => {
      const store = new RecordedStore(forkStore(start.store), start.store);
      const { store: change } = readChange(`{"store":${text}}`);
      if (change !== undefined) store.apply(change);
      return { store };
    },
    isLasting: () => true,
  };
}

function readChange(text: string): Change {
  const reading = readAs(CHANGE, parseJson(text));
  if (!reading.ok) throw new TypeError('the log holds what this version cannot read');
  return reading.value;
}
