import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Resource } from '../state/resource.ts';

/** Characters that show nothing, or change how those around them are shown. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

/**
 * A text that shows its control and formatting characters, which clients may have sent to mislead.
 *
 * @example visible('a\u202eb') // 'a⟨U+202E⟩b'
 */
export function visible(text: string): string {
  return text.replaceAll(UNSEEN, (character) => {
    const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
    return '\n\t'.includes(character) ? character : `⟨U+${code}⟩`;
  });
}

/** The start of a long text, for a cell or a message. */
export function shorten(text: string, most = 120): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** A count with its noun. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** A duration. The server reads its clock once in a turn of the event loop: more digits would mislead. */
export function milliseconds(duration: number): string {
  if (duration < 1) return '< 1 ms';
  return `${duration < 10 ? duration.toFixed(1) : Math.round(duration).toLocaleString('en')} ms`;
}

/** An instant in UTC, to the second. */
export function timeText(at: string): string {
  return at.slice(0, 19).replace('T', ' ');
}

/** A sentence from the server, in which backquotes mark code. */
export function Prose({ text }: { readonly text: string }) {
  return text.split('`').map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part));
}

/** What a view shows until its value is loaded. */
export function Loading({ resource: { error } }: { readonly resource: Resource<unknown> }) {
  return (
    <p class={error === undefined ? 'quiet' : 'problem'} role="status">
      {error === undefined ? 'Loading…' : visible(error)}
    </p>
  );
}

/** Shows a value once it is loaded. */
export function Await<T>(props: {
  readonly of: Resource<T>;
  readonly children: (value: NonNullable<T>) => ComponentChildren;
}) {
  const { value } = props.of;
  return value === undefined || value === null ? (
    <Loading resource={props.of} />
  ) : (
    props.children(value)
  );
}

interface FoldProps {
  readonly title: ComponentChildren;
  readonly opened?: boolean;
  readonly children: () => ComponentChildren;
}

/** Details that are made once they are opened. */
export function Fold({ title, opened = false, children }: FoldProps) {
  const [isOpen, setOpen] = useState(opened);
  return (
    <details open={opened} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && children()}
    </details>
  );
}
