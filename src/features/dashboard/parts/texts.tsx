import { type ComponentChildren, createElement } from 'preact';
import { useId, useRef } from 'preact/hooks';

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

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** In as little room as a tab has: 999, 1.2k. */
export function formatCount(count: number): string {
  return new Intl.NumberFormat('en', { notation: 'compact' }).format(count);
}

/** The server reads its clock once in a turn of the event loop: more digits would mislead. */
export function formatDuration(duration: number): string {
  if (duration < 1) return '< 1 ms';
  return `${duration < 10 ? duration.toFixed(1) : Math.round(duration).toLocaleString('en')} ms`;
}

export function formatTime(at: string): string {
  return at.slice(0, 19).replace('T', ' ');
}

export function formatLocalTime(at: string): string {
  return new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}

interface TextProps {
  readonly text: string;
}

export function Prose({ text }: TextProps) {
  return text.split('`').map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part));
}

type Line = readonly [sign: ' ' | '−' | '+', text: string];

/** Longer texts are compared as a whole. */
const MAX_COMPARED = 400;

/** Lines of two texts in one: the longest common subsequence stays. */
function compareLines(before: string, after: string): readonly Line[] {
  const [old, next] = [before.split('\n'), after.split('\n')];
  if (old.length > MAX_COMPARED || next.length > MAX_COMPARED) {
    return [...old.map((text): Line => ['−', text]), ...next.map((text): Line => ['+', text])];
  }
  const common = old.map(() => next.map(() => 0));
  const at = (row: number, column: number) => common[row]?.[column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = next.length - 1; column >= 0; column -= 1) {
      const longest = Math.max(at(row + 1, column), at(row, column + 1));
      const isSame = old[row] === next[column];
      (common[row] ?? [])[column] = isSame ? at(row + 1, column + 1) + 1 : longest;
    }
  }
  const lines: Line[] = [];
  for (let row = 0, column = 0; row < old.length || column < next.length; ) {
    const [mine = '', other = ''] = [old[row], next[column]];
    if (row < old.length && column < next.length && mine === other) {
      lines.push([' ', mine]);
      row += 1;
      column += 1;
    } else if (
      row < old.length &&
      (column === next.length || at(row + 1, column) >= at(row, column + 1))
    ) {
      lines.push(['−', mine]);
      row += 1;
    } else {
      lines.push(['+', other]);
      column += 1;
    }
  }
  return lines;
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
  hold: 'A rule holds the reply back until you or a test release it.',
  finding: 'Something the client should not do against the real service.',
  manual: 'Sent from this page, or replayed: coverage and findings leave these calls out.',
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
