import { useSignal } from '@preact/signals';

interface NameFormProps {
  readonly label: string;
  readonly action: string;
  /** Returns whether the name was accepted. */
  readonly onName: (name: string) => Promise<boolean>;
}

/** Asks for the name of something new: a sandbox or a snapshot. */
export function NameForm({ label, action, onName }: NameFormProps) {
  const name = useSignal('');
  const submit = async () => {
    if (await onName(name.value)) name.value = '';
  };
  return (
    <form
      class="bar fields"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <label>
        {label}
        <input
          required
          maxLength={64}
          pattern="[a-zA-Z0-9._\-]+"
          title="Letters, digits, dots, underscores and hyphens"
          value={name}
          onInput={({ currentTarget }) => {
            name.value = currentTarget.value;
          }}
        />
      </label>
      <button type="submit">{action}</button>
    </form>
  );
}
