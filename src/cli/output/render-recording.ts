import { COLLECTIONS } from '../../contract/records.ts';
import { changedFields, type RecordChange } from '../../deployment/record/compare-stores.ts';
import { recordText } from '../../store/record-text.ts';
import { ID_NAME, type Store } from '../../store/store.ts';
import { counted, describe, listed } from '../../words.ts';
import { escaped } from './escaped.ts';

/** What was written to a fixture. */
export interface Recorded {
  readonly file: string;
  readonly store: Store;
  readonly gaps: readonly string[];
  /** What differs from an earlier recording, if there was one. */
  readonly changes: readonly RecordChange[] | undefined;
}

/** What was recorded, what may be missing and what changed, for `--json`. */
export function recordingJson({ file, store, gaps, changes }: Recorded): object {
  const counts = Object.fromEntries(COLLECTIONS.map((name) => [name, store[name].size]));
  return { file, ...counts, gaps, changes };
}

/** The same as text. */
export function renderRecording({ file, store, gaps, changes }: Recorded): string {
  const { animals, inventory, orders } = store;
  const counts = [
    counted(animals.size, 'animal'),
    counted(inventory.size, 'inventory entry', 'inventory entries'),
    counted(orders.size, 'order'),
  ];
  const lines = [`${file}: ${listed(counts, 'and')}`];
  if (gaps.length > 0) lines.push('May be missing or different:', ...gaps.map((gap) => `  ${gap}`));
  if (changes !== undefined) {
    lines.push(changes.length === 0 ? 'No changes.' : 'Changes:', ...changes.map(changeLine));
  }
  return `${lines.map(escaped).join('\n')}\n`;
}

function changeLine(change: RecordChange): string {
  const { collection, before, after } = change;
  if (before === undefined) return `  + ${collection} ${recordText(after ?? {})}`;
  if (after === undefined) return `  - ${collection} ${recordText(before)}`;
  const fields = changedFields(change).map(
    (name) => `${name} ${describe(before[name])} → ${describe(after[name])}`,
  );
  return `  ~ ${collection} ${after[ID_NAME[collection]]}: ${fields.join(', ')}`;
}
