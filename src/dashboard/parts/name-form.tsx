import { Form } from './form.tsx';

/** What makes a name, of a sandbox, a snapshot or a scenario. */
export const NAME_INPUT = {
  required: true,
  maxLength: 64,
  pattern: '[a-zA-Z0-9._\\-]+',
  title: 'Letters, digits, dots, underscores and hyphens',
} as const;

interface NameFormProps {
  readonly label: string;
  readonly action: string;
  readonly value?: string;
  /** Returns whether the name was accepted. */
  readonly onName: (name: string) => Promise<boolean>;
}

/** Asks for the name of something new: a sandbox or a snapshot. */
export function NameForm({ label, action, value = '', onName }: NameFormProps) {
  return (
    <Form
      class="bar fields"
      onSubmit={async (texts, form) => {
        if (await onName(texts.get('name') ?? '')) form.reset();
      }}
    >
      <label>
        {label}
        <input name="name" defaultValue={value} {...NAME_INPUT} />
      </label>
      <button type="submit">{action}</button>
    </Form>
  );
}
