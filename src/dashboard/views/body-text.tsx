import type { RecordedMessage } from '../../control/control-shapes.ts';
import { Button, save } from '../parts/buttons.tsx';
import { visible } from '../parts/texts.tsx';
import { textOfBody } from '../state/requests.ts';

/** Characters that are shown: browsers stall on megabytes. */
const SHOWN = 20_000;

interface BodyProps {
  readonly of: RecordedMessage;
  /** Names the file that a long body is saved as. */
  readonly name: string;
  /** The body to compare with. */
  readonly other?: unknown;
}

/** A body as text: JSON is indented, everything else stays as it is. */
export function BodyText({ of: { body, cut }, name, other }: BodyProps) {
  if (body === undefined) {
    return <p class="quiet">{cut ? 'The journal does not keep a long body.' : 'No body.'}</p>;
  }
  const text = textOfBody(body, 2);
  const isCut = text.length > SHOWN;
  const shown = visible(isCut ? text.slice(0, SHOWN) : text);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the focus */}
      <section class="body" tabIndex={0} aria-label={`Body of ${name}`}>
        <pre>{other === undefined ? shown : marked(shown, visible(textOfBody(other, 2)))}</pre>
      </section>
      {cut && <p class="quiet">The journal keeps only the start of a long body.</p>}
      {isCut && (
        <p class="bar">
          These are the first {SHOWN.toLocaleString('en')} of {text.length.toLocaleString('en')}{' '}
          characters. <Button onClick={() => save(`${name}.txt`, text)}>Download</Button>
        </p>
      )}
    </>
  );
}

/** A text in which the lines that another does not have are marked. */
function marked(text: string, other: string) {
  const lines = new Set(other.split('\n'));
  return text
    .split('\n')
    .map((line, at) => (lines.has(line) ? `${line}\n` : [<mark key={at}>{line}</mark>, '\n']));
}
