import { signal } from '@preact/signals';
import { rowNames } from '../../../core/words.ts';
import { type Request, SNIPPETS } from '../state/requests.ts';
import { Button, copy, Segments } from './buttons.tsx';

const LANGUAGES = rowNames(SNIPPETS);

/** The last one that was chosen, for every request. */
const language = signal(0);

/** A request in the language of a client, to copy. */
export function Snippet({ of }: { readonly of: Request }) {
  const text = SNIPPETS[LANGUAGES[language.value] ?? 'curl'](of);
  return (
    <>
      <div class="bar">
        <Segments
          label="Language"
          items={LANGUAGES.map((name) => [name])}
          chosen={language.value}
          onChoose={(index) => {
            language.value = index;
          }}
        />
        <Button label="Copy" of="the code" onClick={() => copy(text)} />
      </div>
      <pre class="body">{text}</pre>
    </>
  );
}
