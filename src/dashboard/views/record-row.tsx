import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { CollectionName } from '../../contract/records.ts';
import { Button } from '../parts/button.tsx';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { FieldInput, fieldProblems, type Problems } from '../parts/field-input.tsx';
import { sortedHead } from '../parts/paged-list.tsx';
import { type Column, TableRow } from '../parts/table.tsx';
import { shortened, visible } from '../parts/visible-text.ts';
import { type Row, type TableInfo, textOf, typedValue } from '../state/record-tables.ts';
import type { Resource } from '../state/resource.ts';

interface Shortcut {
  readonly label: string;
  readonly changes: Row;
  /** What it means for clients. */
  readonly done: string;
}

/** The one-click changes of a record. */
const SHORTCUTS: Readonly<Record<CollectionName, (row: Row) => readonly Shortcut[]>> = {
  animals: () => [],
  inventory: ({ quantity, petId }) =>
    quantity === 0
      ? []
      : [
          {
            label: 'Sell out',
            changes: { quantity: 0, status: 'sold' },
            done: `Animal ${petId} is sold out.`,
          },
        ],
  orders: ({ status, id }) =>
    status === 'shipped' || status === 'cancelled'
      ? [
          {
            label: 'Back to pending',
            changes: { status: 'pending' },
            done: `Order ${id} is pending. Cancelling it now gets 204.`,
          },
        ]
      : [
          {
            label: 'Ship',
            changes: { status: 'shipped' },
            done: `Order ${id} has shipped. Cancelling it now gets 409.`,
          },
          {
            label: 'Cancel',
            changes: { status: 'cancelled' },
            done: `Order ${id} is cancelled.`,
          },
        ],
};

/** A record, and what its row can do. */
interface RecordState {
  readonly row: Row;
  /** The noun and the id. */
  readonly what: string;
  readonly isEdited: boolean;
  readonly problems: Problems;
  readonly edit: (isEdited: boolean) => void;
  readonly change: (done: string, changes: Row) => Promise<boolean>;
  readonly save: () => void;
  readonly remove: () => void;
}

/** The columns of a collection: its fields, and the actions on a record. */
export function recordColumns(
  { name, fields, id }: TableInfo,
  sort: string,
): readonly Column<RecordState>[] {
  const shortcuts = SHORTCUTS[name];
  return [
    ...fields.map(
      (field): Column<RecordState> => ({
        name: field.name,
        class: field.type === 'integer' ? 'number' : undefined,
        ...sortedHead(field.name, sort),
        cell: ({ row, isEdited, what, problems }) =>
          isEdited && field.name !== id ? (
            <FieldInput
              field={field}
              label={`${field.name} of ${what}`}
              text={textOf(row[field.name])}
              problem={problems.get(field.name)}
            />
          ) : (
            <bdi>{shortened(visible(textOf(row[field.name])))}</bdi>
          ),
      }),
    ),
    {
      name: 'Actions',
      class: 'acts',
      head: <span class="unseen">Actions</span>,
      cell: (state) =>
        state.isEdited ? (
          <EditActions of={state} />
        ) : (
          <Actions of={state} shortcuts={shortcuts(state.row)} />
        ),
    },
  ];
}

interface RowProps {
  readonly table: TableInfo;
  readonly columns: readonly Column<RecordState>[];
  readonly row: Row;
  readonly act: Resource<unknown>['act'];
}

/** A record in its table, shown or edited. */
export function RecordRow({ table, columns, row, act }: RowProps) {
  const { name, id, noun, fields } = table;
  const isEdited = useSignal(false);
  const problems = useSignal<Problems>(new Map());
  const element = useRef<HTMLTableRowElement>(null);
  const was = useRef(false);
  useEffect(() => {
    const next = isEdited.value ? 'input' : was.current ? '.edit' : undefined;
    if (next) element.current?.querySelector<HTMLElement>(next)?.focus();
    was.current = isEdited.value;
  }, [isEdited.value]);
  const what = `${noun} ${textOf(row[id])}`;
  const path = `/${name}/${textOf(row[id])}`;
  const edit = (value: boolean) => {
    problems.value = new Map();
    isEdited.value = value;
  };
  const change = (done: string, changes: Row) => act(done, 'PATCH', path, { body: changes });
  const save = async () => {
    const inputs = element.current?.querySelectorAll('input') ?? [];
    const texts = new Map([...inputs].map((input) => [input.name, input.value]));
    const changes = fields.flatMap((field) => {
      const before = textOf(row[field.name]);
      const text = texts.get(field.name) ?? before;
      // Null removes an optional field.
      return text === before ? [] : [[field.name, text === '' ? null : typedValue(field, text)]];
    });
    if (await change(`Saved ${what}.`, Object.fromEntries(changes))) edit(false);
    else problems.value = fieldProblems(fields);
  };
  const remove = async () => {
    const isDone = await act(`Deleted ${what}.`, 'DELETE', path);
    // The row disappears, and the focus with it.
    if (isDone) document.getElementById('main')?.focus();
  };
  return (
    <TableRow
      rowRef={element}
      opened={isEdited.value}
      columns={columns}
      of={{
        ...{ row, what, edit, change, save, remove },
        isEdited: isEdited.value,
        problems: problems.value,
      }}
      onKeyDown={({ key, target }) => {
        if (key === 'Escape') edit(false);
        if (key === 'Enter' && target instanceof HTMLInputElement) void save();
      }}
    />
  );
}

interface ActionsProps {
  readonly of: RecordState;
  readonly shortcuts: readonly Shortcut[];
}

function Actions({ of: { what, change, edit, remove }, shortcuts }: ActionsProps) {
  return (
    <div class="actions">
      {shortcuts.map(({ label, changes, done }, index) => (
        <button
          key={index} // the button that was pressed keeps the focus when it becomes another
          type="button"
          aria-label={`${label} ${what}`}
          onClick={() => change(done, changes)}
        >
          {label}
        </button>
      ))}
      <Button class="edit" aria-label={`Edit ${what}`} onClick={() => edit(true)}>
        Edit
      </Button>
      <ConfirmButton label="Delete" name={`Delete ${what}`} onConfirm={remove} />
    </div>
  );
}

function EditActions({ of: { what, save, edit } }: { readonly of: RecordState }) {
  return (
    <div class="actions">
      <Button class="main" aria-label={`Save ${what}`} onClick={save}>
        Save
      </Button>
      <Button onClick={() => edit(false)}>Cancel</Button>
    </div>
  );
}
