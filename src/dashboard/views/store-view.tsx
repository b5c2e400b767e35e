import { COLLECTIONS } from '../../contract/records.ts';
import type { Snapshot } from '../../control/control-shapes.ts';
import { Button, ConfirmButton } from '../parts/buttons.tsx';
import { NameForm } from '../parts/form.tsx';
import { plural } from '../parts/texts.tsx';
import { hrefOf, place } from '../state/place.ts';
import { TABLES } from '../state/record-tables.ts';
import { act, useResource } from '../state/resource.ts';
import { RecordTable } from './record-table.tsx';

/** The records of the sandbox: three tables, snapshots and resets. */
export function StoreView() {
  const { item } = place.value;
  const opened = COLLECTIONS.find((name) => name === item) ?? 'animals';
  return (
    <>
      <nav aria-label="Collections">
        {COLLECTIONS.map((name) => (
          <a
            key={name}
            href={hrefOf('store', name)}
            aria-current={name === opened ? 'page' : undefined}
          >
            {TABLES[name].title}
          </a>
        ))}
      </nav>
      <RecordTable key={opened} name={opened} />
      <StoreTools />
    </>
  );
}

/** What a reset of the store alone keeps. */
const BUT_THE_STORE = { keep: ['scenario', 'own-scenarios', 'assumptions', 'clock', 'journal'] };

/** Resets and snapshots. */
function StoreTools() {
  const list = useResource<readonly Snapshot[]>('/snapshots');
  return (
    <>
      <section aria-labelledby="snapshots">
        <h2 id="snapshots">Snapshots</h2>
        <p class="quiet">A snapshot keeps all records of this sandbox as they are now.</p>
        <NameForm
          label="Name of a new snapshot"
          action="Keep"
          onName={(name) =>
            act(`Saved snapshot ${name}.`, 'POST', '/snapshots', { body: { name } })
          }
        />
        <ul class="rows">
          {list.value?.map(({ name, animals, orders }) => (
            <li key={name}>
              <b>{name}</b>{' '}
              <span class="quiet">
                {plural(animals, 'animal')}, {plural(orders, 'order')}
              </span>
              <Button
                aria-label={`Restore ${name}`}
                onClick={() => act(`Restored ${name}.`, 'POST', `/snapshots/${name}/restore`)}
              >
                Restore
              </Button>
              <ConfirmButton
                label="Delete"
                name={`Delete ${name}`}
                onConfirm={() => act(`Deleted ${name}.`, 'DELETE', `/snapshots/${name}`)}
              />
            </li>
          ))}
        </ul>
      </section>
      <ConfirmButton
        label="Reset the store"
        onConfirm={() => act('Store reset.', 'POST', '/reset', { body: BUT_THE_STORE })}
      />
    </>
  );
}
