import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { FieldInput, refusedFields } from '../parts/field-input.tsx';
import { shortened, visible } from '../parts/visible-text.ts';
import { type Row, TABLES, type TableName, textOf, typedValue } from '../state/record-tables.ts';
import type { Resource } from '../state/resource.ts';

interface RowProps {
  readonly name: TableName;
  readonly row: Row;
  readonly act: Resource<unknown>['act'];
}

/** The one-click changes of a record: what they are called, and what they set. */
const SHORTCUTS = {
  animals: () => [],
  inventory: ({ quantity }: Row) =>
    quantity === 0 ? [] : [{ label: 'Sell out', changes: { quantity: 0, status: 'sold' } }],
  orders: ({ status }: Row) =>
    status === 'shipped' || status === 'cancelled'
      ? [{ label: 'Restore', changes: { status: 'pending' } }]
      : [
          { label: 'Ship', changes: { status: 'shipped' } },
          { label: 'Cancel', changes: { status: 'cancelled' } },
        ],
} satisfies Record<TableName, (row: Row) => readonly { label: string; changes: Row }[]>;

/** A record in its table, shown or edited. */
export function RecordRow({ name, row, act }: RowProps) {
  const { fields, id, noun } = TABLES[name];
  const editing = useSignal(false);
  const editButton = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(false);
  useEffect(() => {
    if (wasEditing.current && !editing.value) editButton.current?.focus();
    wasEditing.current = editing.value;
  }, [editing.value]);
  const what = `${noun} ${textOf(row[id])}`;
  const path = `/${name}/${textOf(row[id])}`;
  const refused = useSignal<readonly string[]>([]);
  const change = (done: string, changes: Row) => act(done, 'PATCH', path, { body: changes });
  const save = async (changes: Row) => {
    const isDone = await change(`Saved ${what}.`, changes);
    refused.value = isDone ? [] : refusedFields();
    if (isDone) editing.value = false;
  };
  const remove = async () => {
    const isDone = await act(`Deleted ${what}.`, 'DELETE', path);
    // The row disappears, and the focus with it.
    if (isDone) document.getElementById('main')?.focus();
  };
  if (editing.value) {
    return (
      <EditedRow
        {...{ name, row, what }}
        refused={refused.value}
        onSave={save}
        onCancel={() => {
          editing.value = false;
        }}
      />
    );
  }
  return (
    <tr>
      {fields.map(({ name: field, type }) => (
        <td key={field} class={type === 'integer' ? 'number' : undefined}>
          <bdi>{shortened(visible(textOf(row[field])))}</bdi>
        </td>
      ))}
      <td>
        <div class="actions">
          {SHORTCUTS[name](row).map(({ label, changes }, index) => (
            <button
              key={index} // the button that was pressed keeps the focus when it becomes another
              type="button"
              aria-label={`${label} ${what}`}
              onClick={() => change(`${label}: changed ${what}.`, changes)}
            >
              {label}
            </button>
          ))}
          <button
            type="button"
            ref={editButton}
            aria-label={`Edit ${what}`}
            onClick={() => {
              editing.value = true;
            }}
          >
            Edit
          </button>
          <ConfirmButton label="Delete" name={`Delete ${what}`} onConfirm={remove} />
        </div>
      </td>
    </tr>
  );
}

interface EditedProps {
  readonly name: TableName;
  readonly row: Row;
  readonly what: string;
  /** The fields whose values the server refused. */
  readonly refused: readonly string[];
  readonly onSave: (changes: Row) => void;
  readonly onCancel: () => void;
}

function EditedRow({ name, row, what, refused, onSave, onCancel }: EditedProps) {
  const { fields, id } = TABLES[name];
  const rowElement = useRef<HTMLTableRowElement>(null);
  useEffect(() => rowElement.current?.querySelector('input')?.focus(), []);
  const save = () => {
    const inputs = rowElement.current?.querySelectorAll('input') ?? [];
    const texts = new Map([...inputs].map((input) => [input.name, input.value]));
    const changes: Record<string, unknown> = {};
    for (const field of fields) {
      const before = textOf(row[field.name]);
      const text = texts.get(field.name) ?? before;
      // Null removes an optional field.
      if (text !== before) changes[field.name] = text === '' ? null : typedValue(field, text);
    }
    onSave(changes);
  };
  return (
    <tr
      ref={rowElement}
      class="opened"
      onKeyDown={({ key, target }) => {
        if (key === 'Escape') onCancel();
        if (key === 'Enter' && target instanceof HTMLInputElement) save();
      }}
    >
      {fields.map((field) => (
        <td key={field.name}>
          {field.name === id ? (
            textOf(row[id])
          ) : (
            <FieldInput
              field={field}
              label={`${field.name} of ${what}`}
              text={textOf(row[field.name])}
              wrong={refused.includes(field.name)}
            />
          )}
        </td>
      ))}
      <td>
        <div class="actions">
          <button type="button" class="main" aria-label={`Save ${what}`} onClick={save}>
            Save
          </button>
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        </div>
      </td>
    </tr>
  );
}
