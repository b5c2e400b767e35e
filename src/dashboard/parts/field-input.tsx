import { useId } from 'preact/hooks';
import type { FieldInfo } from '../state/record-tables.ts';
import { notice } from '../state/session.ts';

/** What is wrong with fields, by their names. */
export type Problems = ReadonlyMap<string, string>;

interface InputProps {
  readonly field: FieldInfo;
  /** The text before the user edits it. */
  readonly text?: string;
  /** For the label beside it. */
  readonly id?: string;
  /** For a field without a visible label. */
  readonly label?: string;
  /** Why the server refused its value. */
  readonly problem?: string | undefined;
}

/**
 * What the last notice says of fields, as in `name: expected …; quantity: expected …`. The notice goes
 * if it says nothing else.
 */
export function fieldProblems(fields: readonly FieldInfo[]): Problems {
  const { kind, text = '' } = notice.value ?? {};
  const problems = new Map<string, string>();
  if (kind !== 'failed') return problems;
  for (const part of text.replace(/\.$/, '').split('; ')) {
    const [, name = '', problem = ''] = /^(\w+): (.*)$/.exec(part) ?? [];
    if (!fields.some((field) => field.name === name)) return new Map();
    const isMissing = problem.endsWith('found nothing') || problem.endsWith('found null');
    problems.set(name, isMissing ? `Enter a ${name}.` : `${problem.replace(/^e/, 'E')}.`);
  }
  notice.value = undefined;
  return problems;
}

/** An input that takes any text, and suggests the values that the field is known to have. */
export function FieldInput({ field, text = '', id, label, problem }: InputProps) {
  const [list, reason] = [useId(), useId()];
  return (
    <>
      <input
        id={id}
        name={field.name}
        aria-label={label}
        aria-invalid={problem !== undefined}
        aria-describedby={problem && reason}
        autocomplete="off"
        inputMode={field.type === 'integer' ? 'numeric' : undefined}
        list={field.values && list}
        placeholder={field.name === 'shipDate' ? '2030-01-31T09:00:00Z' : undefined}
        size={field.type === 'integer' ? 8 : 16}
        defaultValue={text}
      />
      {problem !== undefined && (
        <span id={reason} class="problem" role="alert">
          {problem}
        </span>
      )}
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
