import type { RefObject } from 'preact';

interface CodeAreaProps {
  readonly area: RefObject<HTMLTextAreaElement | null>;
  readonly label: string;
  readonly text: string;
  readonly problems: readonly { readonly line: number; readonly column: number }[];
  readonly onText: (text: string) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/** A comment, a key, a string, a number or a constant, or anything else. */
const TOKEN =
  /(#.*)|([\w.*-]+(?=\s*:(?:\s|$)))|("[^"]*"|'[^']*')|\b(\d+(?:\.\d+)?|true|false|null)\b|(?:[^#"'\w]+|\w+|.)/g;

const KINDS = ['', 'quiet', 'forced', 'done', 'assumed'] as const;

function colour(line: string) {
  return [...line.matchAll(TOKEN)].map((match, index) => {
    const kind = match.slice(1).findIndex((part) => part !== undefined) + 1;
    return (
      <span key={index} class={KINDS[kind]}>
        {match[0]}
      </span>
    );
  });
}

/** A text area over its own text in colours, with the numbers of its lines and its mistakes. */
export function CodeArea({ area, label, text, problems, onText, onKeyDown }: CodeAreaProps) {
  const lines = text.split('\n');
  return (
    <div class="code">
      <pre aria-hidden="true">
        {lines.map((line, index) => {
          const problem = problems.find((one) => one.line === index + 1);
          const at = problem === undefined ? line.length : problem.column - 1;
          return (
            <span key={index} class="line">
              {colour(line.slice(0, at))}
              {problem && <span class="wrong">{line.slice(at) || ' '}</span>}
              {'\n'}
            </span>
          );
        })}
      </pre>
      <textarea
        ref={area}
        aria-label={label}
        spellcheck={false}
        value={text}
        onInput={({ currentTarget: { value } }) => onText(value)}
        onKeyDown={onKeyDown}
      />
    </div>
  );
}
