import { Form } from './form.tsx';

interface NameFormProps {
  readonly label: string;
  readonly action: string;
  /** Returns whether the name was accepted. */
  readonly onName: (name: string) => Promise<boolean>;
}

/** Asks for the name of something new: a sandbox or a snapshot. */
export function NameForm({ label, action, onName }: NameFormProps) {
  return (
    <Form
      class="bar fields"
      onSubmit={async (texts, form) => {
        if (await onName(texts.get('name') ?? '')) form.reset();
      }}
    >
      <label>
        {label}
        <input
          name="name"
          required
          maxLength={64}
          pattern="[a-zA-Z0-9._\-]+"
          title="Letters, digits, dots, underscores and hyphens"
        />
      </label>
      <button type="submit">{action}</button>
    </Form>
  );
}
