import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { FieldInput } from '../parts/field-input.tsx';
import { type Row, type TableInfo, typedValue } from '../state/record-tables.ts';

interface FormProps {
  readonly table: TableInfo;
  readonly onSave: (record: Row) => void;
}

/** A form for a new record. Empty fields are left out. */
export function RecordForm({ table: { fields, id, noun }, onSave }: FormProps) {
  const texts = useSignal<Readonly<Record<string, string>>>({});
  const form = useId();
  const record = () =>
    Object.fromEntries(
      fields.flatMap((field) => {
        const text = texts.value[field.name] ?? '';
        return text === '' ? [] : [[field.name, typedValue(field, text)] as const];
      }),
    );
  return (
    <form
      class="card"
      aria-label={`New ${noun}`}
      onSubmit={(event) => {
        event.preventDefault();
        onSave(record());
      }}
    >
      <div class="bar fields">
        {fields.map((field) => (
          <div key={field.name}>
            <label for={`${form}-${field.name}`}>
              {field.name}
              {field.name === id && id === 'id' ? ' (the next one if empty)' : ''}
            </label>
            <FieldInput
              id={`${form}-${field.name}`}
              field={field}
              text={texts.value[field.name] ?? ''}
              onText={(text) => {
                texts.value = { ...texts.value, [field.name]: text };
              }}
            />
          </div>
        ))}
      </div>
      <button type="submit">Add</button>
    </form>
  );
}
