import { useSignal } from '@preact/signals';
import { hrefOf, place } from '../state/place.ts';
import { TABLE_NAMES, TABLES } from '../state/record-tables.ts';
import { RecordTable } from './record-table.tsx';
import { StoreTools } from './store-tools.tsx';

/** The records of the sandbox: three tables, snapshots and resets. */
export function StoreView() {
  const { item } = place.value;
  const opened = TABLE_NAMES.find((name) => name === item) ?? 'animals';
  const changes = useSignal(0);
  return (
    <>
      <nav aria-label="Collections">
        {TABLE_NAMES.map((name) => (
          <a
            key={name}
            href={hrefOf('store', name)}
            aria-current={name === opened ? 'page' : undefined}
          >
            {TABLES[name].title}
          </a>
        ))}
      </nav>
      <RecordTable key={`${opened} ${changes.value}`} name={opened} />
      <StoreTools
        onChange={() => {
          changes.value += 1;
        }}
      />
    </>
  );
}
