import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { FieldInput, fieldProblems, type Problems } from '../parts/field-input.tsx';
import { Form } from '../parts/form.tsx';
import { type Row, type TableInfo, typedValue } from '../state/record-tables.ts';

interface FormProps {
  readonly table: TableInfo;
  /** Returns whether the server took it. */
  readonly onSave: (record: Row) => Promise<boolean>;
}

/** A form for a new record. Empty fields are left out. */
export function RecordForm({ table: { fields, id, noun }, onSave }: FormProps) {
  const form = useId();
  const problems = useSignal<Problems>(new Map());
  const save = async (record: Row) => {
    problems.value = (await onSave(record)) ? new Map() : fieldProblems(fields);
  };
  const recordOf = (texts: ReadonlyMap<string, string>): Row =>
    Object.fromEntries(
      fields.flatMap((field) => {
        const text = texts.get(field.name) ?? '';
        return text === '' ? [] : [[field.name, typedValue(field, text)]];
      }),
    );
  return (
    <Form class="card" aria-label={`New ${noun}`} onSubmit={(texts) => save(recordOf(texts))}>
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
              problem={problems.value.get(field.name)}
            />
          </div>
        ))}
      </div>
      <button type="submit">Add</button>
    </Form>
  );
}
