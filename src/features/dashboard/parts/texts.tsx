import { type ComponentChildren, createElement } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { compareLines } from '../../../terminal/compare-lines.ts';

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

/** Shows characters that mislead: 'a\u202eb' becomes 'a⟨U+202E⟩b'. */
export function visible(text: string): string {
  return text.replaceAll(UNSEEN, (character) => {
    const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
    return '\n\t'.includes(character) ? character : `⟨U+${code}⟩`;
  });
}

export function shorten(text: string, max = 120): string {
  return text.length > max ? `${text.slice(0, max)}…` : text;
}

/** The server reads its clock once in a turn of the event loop: more digits would mislead. */
export function formatDuration(duration: number): string {
  if (duration < 1) return '< 1 ms';
  return `${duration < 10 ? duration.toFixed(1) : Math.round(duration).toLocaleString('en')} ms`;
}

export function formatTime(at: string): string {
  return at.slice(0, 19).replace('T', ' ');
}

export function Prose({ text }: { readonly text: string }) {
  return text.split('`').map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part));
}

const TAGS = { ' ': 'span', '−': 'del', '+': 'ins' } as const;

export function LineDifference({ before, after }: Readonly<Record<'before' | 'after', string>>) {
  return (
    <pre class="diff">
      {compareLines(before, after).map(([sign, text], index) =>
        createElement(TAGS[sign], { key: index, 'data-sign': sign }, text || ' '),
      )}
    </pre>
  );
}

const TERMS = {
  basis: 'What a reply rests on: the interface document, an assumption, a rule or a deployment.',
  documented: 'The interface document prescribes this reply.',
  assumed: 'The document leaves this open: an assumption of the mock decided the reply.',
  forced: 'A scenario or the request itself asked for this reply.',
  upstream: 'A deployment gave this reply.',
  finding: 'Something the client should not do against the real service.',
  manual: 'Sent from this page, or replayed: coverage and findings leave these calls out.',
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
