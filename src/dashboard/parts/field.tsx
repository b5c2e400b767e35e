interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  /** Lines, for a text of several. */
  readonly rows?: number;
  readonly required?: boolean;
  readonly pattern?: string;
  readonly title?: string;
  readonly placeholder?: string;
  readonly size?: number;
}

/** A text with its label, in a form. */
export function Field({ label, value, rows, ...attributes }: FieldProps) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: one of the two is in it
    <label class="field">
      {label}
      {rows === undefined ? (
        <input class="mono" autocomplete="off" defaultValue={value} {...attributes} />
      ) : (
        <textarea rows={rows} defaultValue={value} {...attributes} />
      )}
    </label>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  /** What an empty option is called. */
  readonly empty?: string;
  readonly onChange?: (value: string) => void;
}

/** A choice with its label, in a form. */
export function Choice({ name, label, value, options, empty, onChange }: ChoiceProps) {
  return (
    <label class="field">
      {label}
      <select name={name} onChange={({ currentTarget }) => onChange?.(currentTarget.value)}>
        {options.map((option) => (
          <option key={option} value={option} selected={option === value}>
            {option || empty}
          </option>
        ))}
      </select>
    </label>
  );
}
