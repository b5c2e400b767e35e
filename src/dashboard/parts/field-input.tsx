import { useId } from 'preact/hooks';
import type { FieldInfo } from '../state/record-tables.ts';
import { notice } from '../state/session.ts';

interface InputProps {
  readonly field: FieldInfo;
  /** The text before the user edits it. */
  readonly text?: string;
  /** For the label beside it. */
  readonly id?: string;
  /** For a field without a visible label. */
  readonly label?: string;
  /** Whether the server refused its value. */
  readonly wrong?: boolean;
}

/** The fields that the last notice says are wrong, as in `name: expected …; quantity: expected …`. */
export function refusedFields(): readonly string[] {
  const { kind, text = '' } = notice.value ?? {};
  return kind === 'failed'
    ? [...text.matchAll(/(?:^|; )(\w+): /g)].map(([, name = '']) => name)
    : [];
}

/** An input that takes any text, and suggests the values that the field is known to have. */
export function FieldInput({ field, text = '', id, label, wrong = false }: InputProps) {
  const list = useId();
  return (
    <>
      <input
        id={id}
        name={field.name}
        aria-label={label}
        aria-invalid={wrong}
        autocomplete="off"
        inputMode={field.type === 'integer' ? 'numeric' : undefined}
        list={field.values && list}
        placeholder={field.name === 'shipDate' ? '2030-01-31T09:00:00Z' : undefined}
        size={field.type === 'integer' ? 8 : 16}
        defaultValue={text}
      />
      {field.values && (
        <datalist id={list}>
          {field.values.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
    </>
  );
}
