import { useId } from 'preact/hooks';
import type { FieldInfo } from '../state/record-tables.ts';

interface InputProps {
  readonly field: FieldInfo;
  readonly text: string;
  readonly onText: (text: string) => void;
  /** For the label beside it. */
  readonly id?: string;
  /** For a field without a visible label. */
  readonly label?: string;
}

/** An input that takes any text, and suggests the values that the field is known to have. */
export function FieldInput({ field, text, onText, id, label }: InputProps) {
  const list = useId();
  return (
    <>
      <input
        id={id}
        aria-label={label}
        autocomplete="off"
        inputMode={field.type === 'integer' ? 'numeric' : undefined}
        list={field.values && list}
        placeholder={field.name === 'shipDate' ? '2030-01-31T09:00:00Z' : undefined}
        size={field.type === 'integer' ? 8 : 16}
        value={text}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
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
