import { useState } from 'preact/hooks';
import { Button } from '../parts/buttons.tsx';
import { Field, Form, type Texts } from '../parts/form.tsx';
import { type FieldInfo, type Row, textOf, typedValue } from '../state/record-tables.ts';
import { notice } from '../state/session.ts';

interface FormProps {
  readonly fields: readonly FieldInfo[];
  /** What is edited: a noun, and an id unless it is new. */
  readonly what: string;
  /** The record before; none if it is new. */
  readonly row?: Row | undefined;
  /** Saves what changed; null removes a field. Returns whether the server took it. */
  readonly onSave: (changes: Row) => Promise<boolean>;
  readonly onCancel: () => void;
}

/** A form for a record. */
export function RecordForm({ fields, what, row, onSave, onCancel }: FormProps) {
  const [problems, setProblems] = useState<Texts>(new Map());
  const save = async (texts: Texts) => {
    const changes = fields.flatMap((field) => {
      const before = textOf(row?.[field.name]);
      const text = texts.get(field.name) ?? before;
      return text === before ? [] : [[field.name, text === '' ? null : typedValue(field, text)]];
    });
    if (!(await onSave(Object.fromEntries(changes)))) setProblems(fieldProblems(fields));
  };
  return (
    <Form
      class="card bar fields"
      aria-label={row === undefined ? `New ${what}` : `Edit ${what}`}
      onSubmit={save}
      onKeyDown={({ key }) => {
        if (key === 'Escape') onCancel();
      }}
    >
      {fields.map(({ name, isInteger, suggested }) => (
        <Field
          key={name}
          name={name}
          label={name === 'id' ? 'id (the next one if empty)' : name}
          value={textOf(row?.[name])}
          {...{ suggested, problem: problems.get(name) }}
          inputMode={isInteger ? 'numeric' : 'text'}
          size={isInteger ? 8 : 16}
          placeholder={name === 'shipDate' ? '2030-01-31T09:00:00Z' : ''}
        />
      ))}
      <button type="submit">{row === undefined ? 'Add' : 'Save'}</button>
      <Button onClick={onCancel}>Cancel</Button>
    </Form>
  );
}

/**
 * What the last notice says of fields, as in `name: expected …; quantity: expected …`. The notice goes
 * if it says nothing else.
 */
function fieldProblems(fields: readonly FieldInfo[]): Texts {
  const problems = new Map<string, string>();
  for (const part of (notice.value?.text ?? '').replace(/\.$/, '').split('; ')) {
    const [, name = '', problem = ''] = /^(\w+): (.*)$/.exec(part) ?? [];
    if (!fields.some((field) => field.name === name)) return new Map();
    const isMissing = /found (?:nothing|null)$/.test(problem);
    problems.set(name, isMissing ? `Enter a ${name}.` : `${problem.replace(/^e/, 'E')}.`);
  }
  notice.value = undefined;
  return problems;
}
