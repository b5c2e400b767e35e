import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { rowNames } from '../../../core/tables.ts';
import { formatBody, type Request, SNIPPETS } from '../state/requests.ts';
import type { ListedExchange } from '../state/session.ts';
import { Button, copy, download, Segments } from './buttons.tsx';
import { visible } from './texts.tsx';

/** Characters that are shown: browsers stall on megabytes. */
export const MAX_BODY_CHARACTERS = 100_000;

interface MessageProps {
  readonly of: ListedExchange['request'];
  readonly name: string;
}

export function MessageText({ of: { headers, body, size = 0, cut }, name }: MessageProps) {
  const text = body === undefined ? '' : formatBody(body, 2);
  const lines = Object.entries(headers).map((header) => header.join(': '));
  const shown = visible(text.slice(0, MAX_BODY_CHARACTERS));
  const bytes = `${size.toLocaleString('en')} bytes`;
  const nothing = cut
    ? `The journal does not keep this body of ${bytes}: it is too long.`
    : 'No body.';
  return (
    <>
      <details>
        <summary>Headers</summary>
        <pre>{visible(lines.join('\n'))}</pre>
      </details>
      <p class="quiet">{body === undefined ? nothing : `Body, ${bytes}`}</p>
      {body !== undefined && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the focus
        <section class="body" tabIndex={0} aria-label={`Body of ${name}`}>
          <pre>{shown}</pre>
        </section>
      )}
      {text.length > MAX_BODY_CHARACTERS && (
        <p class="bar">
          These are the first {MAX_BODY_CHARACTERS.toLocaleString('en')} of{' '}
          {text.length.toLocaleString('en')} characters.{' '}
          <Button label="Download" onClick={() => download(`${name}.txt`, text)} />
        </p>
      )}
    </>
  );
}

interface SidesProps {
  readonly of: ListedExchange;
  /** Shown instead of the raw reply. */
  readonly children?: ComponentChildren;
}

/** A request and its reply, side by side. */
export function Sides({ of, children }: SidesProps) {
  const { number, method, target, request, reply } = of;
  return (
    <div class="sides">
      <div>
        <h3>Request</h3>
        <p class="mono">
          {visible(method)} {visible(target)}
        </p>
        <MessageText of={request} name={`request ${number}`} />
      </div>
      <div>
        <h3>Reply</h3>
        {children ?? <MessageText of={reply} name={`reply ${number}`} />}
      </div>
    </div>
  );
}

/** The last one that was chosen, for every request. */
const language = signal<keyof typeof SNIPPETS>('curl');

/** A request in the language of a client, to copy. */
export function Snippet({ of }: { readonly of: Request }) {
  const text = SNIPPETS[language.value](of);
  return (
    <>
      <div class="bar">
        <Segments
          label="Language"
          names={rowNames(SNIPPETS)}
          chosen={language.value}
          onChoose={(name) => {
            language.value = name;
          }}
        />
        <Button label="Copy" of="the code" onClick={() => copy(text)} />
      </div>
      <pre class="body">{text}</pre>
    </>
  );
}
