import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { ScenarioProblem, ScenarioSummary } from '../../control/control-shapes.ts';
import { call } from '../client/control-calls.ts';
import type { Editor } from '../editor/scenario-editor.ts';
import { Button, Disclosure } from '../parts/button.tsx';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { NameForm } from '../parts/name-form.tsx';
import { Panel } from '../parts/panel.tsx';
import { save } from '../parts/save.ts';
import { renameScenario, saveScenario, scenarioText } from '../state/own-scenarios.ts';
import { go, unsaved } from '../state/place.ts';
import { perform } from '../state/resource.ts';

interface PanelProps {
  readonly of: ScenarioSummary;
  /** The names of all scenarios. */
  readonly taken: readonly string[];
  readonly onChange: () => void;
  readonly onDuplicate: (text: string) => void;
}

/** A scenario of the user's own, in an editor that is loaded when it is opened. */
export function ScenarioPanel({ of: { name, active }, taken, onChange, onDuplicate }: PanelProps) {
  const parent = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | undefined>(undefined);
  const [text, problems, failed, isRenaming] = [
    useSignal(''),
    useSignal<readonly ScenarioProblem[]>([]),
    useSignal(false),
    useSignal(false),
  ];
  const saved = useRef('');
  const isActive = active !== undefined;
  const store = async (turnOn: boolean) => {
    const done = turnOn || isActive ? `Saved ${name}. It is on.` : `Saved ${name}.`;
    const sent = text.value;
    if (!(await perform(done, () => saveScenario(name, sent, turnOn)))) return;
    saved.current = sent;
    if (text.value === sent) unsaved.value = undefined;
    onChange();
  };
  const apply = useRef(store);
  apply.current = store;
  useEffect(() => {
    const controller = new AbortController();
    const opening = async () => {
      const { openEditor } = await import('../editor/scenario-editor.ts');
      const [schema, loaded] = await Promise.all([
        call<object>('GET', '/scenario-schema'),
        scenarioText(name),
      ]);
      if (parent.current === null || controller.signal.aborted) return;
      text.value = loaded;
      saved.current = loaded;
      editor.current = openEditor({
        parent: parent.current,
        text: loaded,
        schema,
        check: async (edited) => {
          const path = '/scenario/check';
          const found = await call<{ problems: readonly ScenarioProblem[] }>('POST', path, {
            body: { text: edited },
          });
          problems.value = found.problems;
          return found.problems;
        },
        onText: (edited) => {
          text.value = edited;
          unsaved.value = edited === saved.current ? undefined : `scenario ${name}`;
        },
        onApply: () => void apply.current(true),
      });
    };
    opening().catch(() => {
      failed.value = true;
    });
    return () => {
      controller.abort();
      editor.current?.close();
      unsaved.value = undefined;
    };
  }, [name]);
  const rename = async (next: string) => {
    const isDone = await perform(`Renamed ${name} to ${next}.`, async () => {
      if (taken.includes(next)) throw new Error(`There is a scenario ${next} already.`);
      await renameScenario(name, text.value, next);
    });
    if (!isDone) return false;
    unsaved.value = undefined;
    onChange();
    go('scenarios', next);
    return true;
  };
  const remove = async () => {
    unsaved.value = undefined;
    await perform(`Deleted ${name}.`, () => call('DELETE', `/scenarios/${name}`));
    onChange();
    go('scenarios');
  };
  return (
    <Panel
      title={name}
      beside={unsaved.value !== undefined && <span class="quiet">Not saved</span>}
      close="Close"
      onClose={() => go('scenarios')}
    >
      {failed.value && (
        <p class="problem" role="alert">
          The editor could not be loaded.
        </p>
      )}
      <div class="editor" ref={parent} />
      <ul class="rows" aria-label="Problems">
        {problems.value.map(({ line, column, message }) => (
          <li key={`${line}:${column}:${message}`}>
            <Button onClick={() => editor.current?.show(line, column)}>Line {line}</Button>
            <span class="problem">{message}</span>
          </li>
        ))}
      </ul>
      <div class="bar">
        <Button class="main" onClick={() => store(false)}>
          Save
        </Button>
        {!isActive && <Button onClick={() => store(true)}>Save and turn on</Button>}
      </div>
      <div class="bar">
        <Disclosure of={isRenaming} label="Rename" />
        <Button onClick={() => onDuplicate(text.value)}>Duplicate</Button>
        <Button onClick={() => save(`${name}.yaml`, text.value)}>Download YAML</Button>
        <ConfirmButton label="Delete" name={`Delete ${name}`} onConfirm={remove} />
      </div>
      {isRenaming.value && (
        <NameForm label="New name" action="Rename it" value={name} onName={rename} />
      )}
      <p class="quiet">
        Ctrl+Space completes, Ctrl+Enter saves and turns on. The file works with{' '}
        <code>--scenario</code>.
      </p>
    </Panel>
  );
}
