import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
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

export function shorten(text: string, most = 120): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** A duration. The server reads its clock once in a turn of the event loop: more digits would mislead. */
export function formatDuration(duration: number): string {
  if (duration < 1) return '< 1 ms';
  return `${duration < 10 ? duration.toFixed(1) : Math.round(duration).toLocaleString('en')} ms`;
}

export function formatTime(at: string): string {
  return at.slice(0, 19).replace('T', ' ');
}

/** A sentence from the server, in which backquotes mark code. */
export function Prose({ text }: { readonly text: string }) {
  return text.split('`').map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part));
}

export function Loading({ resource: { error } }: { readonly resource: Resource<unknown> }) {
  return (
    <p class={error === undefined ? 'quiet' : 'problem'} role="status">
      {error === undefined ? 'Loading…' : visible(error)}
    </p>
  );
}

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

const TERMS = {
  basis: 'What a reply rests on: the interface document, an assumption, a rule or a deployment.',
  documented: 'The interface document prescribes this reply.',
  assumed: 'The document leaves this open: an assumption of the mock decided the reply.',
  forced: 'A scenario or the request itself asked for this reply.',
  upstream: 'A deployment gave this reply.',
  hold: 'A rule holds the reply back until you or a test release it.',
  finding: 'Something the client should not do against the real service.',
  unmatched: 'The call reached no operation: its path or its method is unknown.',
} as const;

interface TermProps {
  readonly word: keyof typeof TERMS;
  /** @param id of the explanation, for `aria-describedby` */
  readonly children: (id: string) => ComponentChildren;
}

export function Term({ word, children }: TermProps) {
  const id = useId();
  const popover = useRef<HTMLSpanElement>(null);
  const show = ({ currentTarget }: { readonly currentTarget: HTMLElement }) =>
    popover.current?.showPopover({ source: currentTarget });
  const hide = () => popover.current?.hidePopover();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what it surrounds can have the focus
    <span onMouseEnter={show} onMouseLeave={hide} onFocusIn={show} onFocusOut={hide}>
      {children(id)}
      <span ref={popover} id={id} popover="manual" role="tooltip" class="menu-list">
        {TERMS[word]}
      </span>
    </span>
  );
}
