import { Button, save } from '../parts/buttons.tsx';
import { visible } from '../parts/texts.tsx';
import { formatBody } from '../state/requests.ts';
import type { RecordedExchange } from '../state/session.ts';

/** Characters that are shown: browsers stall on megabytes. */
const MAX_BODY_CHARACTERS = 100_000;

interface MessageProps {
  readonly of: RecordedExchange['request'];
  readonly name: string;
  readonly other?: unknown;
}

export function Message({ of: { headers, body, size = 0, cut }, name, other }: MessageProps) {
  const text = body === undefined ? '' : formatBody(body, 2);
  const isLong = text.length > MAX_BODY_CHARACTERS;
  const shown = visible(isLong ? text.slice(0, MAX_BODY_CHARACTERS) : text);
  const bytes = `${size.toLocaleString('en')} bytes`;
  return (
    <>
      <details>
        <summary>Headers</summary>
        <dl>
          {Object.entries(headers).map(([header, value]) => (
            <div key={header}>
              <dt>{visible(header)}</dt>
              <dd class="mono">
                <bdi>{visible(value)}</bdi>
              </dd>
            </div>
          ))}
        </dl>
      </details>
      {body === undefined ? (
        <p class="quiet">
          {cut ? `The journal does not keep this body of ${bytes}: it is too long.` : 'No body.'}
        </p>
      ) : (
        <>
          <span class="quiet">Body, {bytes}</span>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the focus */}
          <section class="body" tabIndex={0} aria-label={`Body of ${name}`}>
            <pre>
              {other === undefined ? shown : highlight(shown, visible(formatBody(other, 2)))}
            </pre>
          </section>
        </>
      )}
      {isLong && (
        <p class="bar">
          These are the first {MAX_BODY_CHARACTERS.toLocaleString('en')} of{' '}
          {text.length.toLocaleString('en')} characters.{' '}
          <Button onClick={() => save(`${name}.txt`, text)}>Download</Button>
        </p>
      )}
    </>
  );
}

export function highlight(text: string, other: string) {
  const lines = new Set(other.split('\n'));
  return text
    .split('\n')
    .map((line, at) => (lines.has(line) ? `${line}\n` : [<mark key={at}>{line}</mark>, '\n']));
}
