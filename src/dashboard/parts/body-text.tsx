import { useSignal } from '@preact/signals';
import { writeExact } from '../client/exact-json.ts';
import { save } from './save.ts';
import { visibleLines } from './visible-text.ts';

/** Characters that are shown at once: browsers stall on megabytes. */
const SHOWN = 20_000;

/** A body as text: JSON is indented, everything else stays as it is. */
export function BodyText({ value, name }: { readonly value: unknown; readonly name: string }) {
  const all = useSignal(false);
  const text = typeof value === 'string' ? value : writeExact(value, 2);
  const isCut = text.length > SHOWN && !all.value;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the focus */}
      <section class="body" tabIndex={0} aria-label="Body">
        <pre>{visibleLines(isCut ? text.slice(0, SHOWN) : text)}</pre>
      </section>
      {isCut && (
        <p class="bar">
          <button
            type="button"
            onClick={() => {
              all.value = true;
            }}
          >
            Show all {text.length.toLocaleString('en')} characters
          </button>
          <button type="button" onClick={() => save(`${name}.txt`, text)}>
            Download
          </button>
        </p>
      )}
    </>
  );
}
