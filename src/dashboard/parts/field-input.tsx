import { useId } from 'preact/hooks';
import type { FieldInfo } from '../state/record-tables.ts';

interface InputProps {
  readonly field: FieldInfo;
  /** The text before the user edits it. */
  readonly text?: string;
  /** For the label beside it. */
  readonly id?: string;
  /** For a field without a visible label. */
  readonly label?: string;
}

/** An input that takes any text, and suggests the values that the field is known to have. */
export function FieldInput({ field, text = '', id, label }: InputProps) {
  const list = useId();
  return (
    <>
      <input
        id={id}
        name={field.name}
        aria-label={label}
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
