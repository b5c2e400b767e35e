import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { ScenarioProblem } from '../../control/control-shapes.ts';
import { call } from '../client/control-calls.ts';
import { save } from '../parts/save.ts';
import { draft, keepDraft } from '../state/draft.ts';
import { go } from '../state/place.ts';
import { notice } from '../state/session.ts';

interface DraftProps {
  /** Returns whether the server took it. */
  readonly onApply: (text: string) => Promise<boolean>;
}

/** The editor for the user's own scenario, loaded when it is opened. */
export function DraftSection({ onApply }: DraftProps) {
  const place = useRef<HTMLDivElement>(null);
  const text = useRef(draft.value);
  const failed = useSignal(false);
  const apply = useRef(async () => {});
  apply.current = async () => {
    await onApply(text.current);
  };
  useEffect(() => {
    const parent = place.current;
    if (parent === null) return undefined;
    text.current = draft.value;
    const opened = open(parent, draft.value, {
      onText: (edited) => {
        text.current = edited;
        keepDraft(edited);
      },
      onApply: () => void apply.current(),
    });
    const whenFailed = () => {
      failed.value = true;
    };
    opened.catch(whenFailed);
    return () => void opened.then((close) => close(), whenFailed);
  }, [draft.value]);
  return (
    <section class="panel" aria-labelledby="draft-title">
      <div class="bar">
        <h2 id="draft-title">Your scenario</h2>
        <button type="button" onClick={() => go('scenarios')}>
          Close
        </button>
      </div>
      {failed.value && (
        <p class="problem" role="alert">
          The editor could not be loaded.
        </p>
      )}
      <div class="editor" ref={place} />
      <div class="bar">
        <button type="button" class="main" onClick={() => apply.current()}>
          Apply
        </button>
        <button
          type="button"
          onClick={() => {
            save('scenario.yaml', text.current);
            notice.value = { kind: 'done', text: 'Saved scenario.yaml.' };
          }}
        >
          Save as a file
        </button>
      </div>
      <p class="quiet">
        Ctrl+Space completes, Ctrl+Enter applies. A saved file works with <code>--scenario</code>.
      </p>
    </section>
  );
}

interface Listeners {
  readonly onText: (text: string) => void;
  readonly onApply: () => void;
}

/** Opens the editor, and returns a function that closes it. */
async function open(parent: HTMLElement, text: string, listeners: Listeners): Promise<() => void> {
  const { openEditor } = await import('../editor/scenario-editor.ts');
  const schema = await call<object>('GET', '/scenario-schema');
  const check = async (edited: string) => {
    const body = { text: edited };
    const { problems } = await call<{ problems: readonly ScenarioProblem[] }>(
      'POST',
      '/scenario/check',
      { body },
    );
    return problems;
  };
  return openEditor({ parent, text, schema, check, ...listeners });
}
