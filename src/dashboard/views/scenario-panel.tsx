import { useEffect, useRef, useState } from 'preact/hooks';
import type { ScenarioProblem } from '../../control/control-shapes.ts';
import { call } from '../client/control-calls.ts';
import type { Editor } from '../editor/scenario-editor.ts';
import { Button, ConfirmButton, save } from '../parts/buttons.tsx';
import { NameForm } from '../parts/form.tsx';
import { Panel } from '../parts/panel.tsx';
import { go, unsaved } from '../state/place.ts';
import { perform } from '../state/resource.ts';
import { renameScenario, saveScenario, scenarioText } from '../state/scenarios.ts';

interface PanelProps {
  readonly name: string;
  readonly isActive: boolean;
  readonly onDuplicate: (text: string) => void;
}

/** A scenario of the user's own, in an editor that is loaded when it is opened. */
export function ScenarioPanel({ name, isActive, onDuplicate }: PanelProps) {
  const parent = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | undefined>(undefined);
  const [text, saved] = [useRef(''), useRef('')];
  const [problems, setProblems] = useState<readonly ScenarioProblem[]>([]);
  const [isFailed, setFailed] = useState(false);
  const compare = () => {
    unsaved.value = text.current === saved.current ? undefined : `scenario ${name}`;
  };
  const store = async (turnOn: boolean) => {
    const done = turnOn ? `Saved ${name}. It is on.` : `Saved ${name}.`;
    const sent = text.current;
    if (!(await perform(done, () => saveScenario(name, sent, turnOn)))) return;
    saved.current = sent;
    compare();
  };
  useEffect(() => {
    const controller = new AbortController();
    const opening = async () => {
      const { openEditor } = await import('../editor/scenario-editor.ts');
      const [schema, loaded] = await Promise.all([
        call<object>('GET', '/scenario-schema'),
        scenarioText(name),
      ]);
      if (parent.current === null || controller.signal.aborted) return;
      text.current = loaded;
      saved.current = loaded;
      editor.current = openEditor({
        parent: parent.current,
        text: loaded,
        schema,
        check: async (edited) => {
          const found = await call<{ problems: readonly ScenarioProblem[] }>(
            ...(['POST', '/scenario/check', { body: { text: edited } }] as const),
          );
          setProblems(found.problems);
          return found.problems;
        },
        onText: (edited) => {
          text.current = edited;
          compare();
        },
        onApply: () => void store(true),
      });
    };
    opening().catch(() => setFailed(true));
    return () => {
      controller.abort();
      editor.current?.close();
      unsaved.value = undefined;
    };
  }, [name]);
  const rename = async (next: string) => {
    const done = `Renamed ${name} to ${next}.`;
    const isDone = await perform(done, () => renameScenario(name, text.current, next));
    if (isDone) leave(next);
    return isDone;
  };
  const remove = async () => {
    await perform(`Deleted ${name}.`, () => call('DELETE', `/scenarios/${name}`));
    leave();
  };
  const leave = (next?: string) => {
    unsaved.value = undefined;
    go('scenarios', next);
  };
  return (
    <Panel
      title={name}
      beside={unsaved.value !== undefined && <span class="quiet">Not saved</span>}
      close="Close"
      onClose={() => go('scenarios')}
    >
      {isFailed && (
        <p class="problem" role="alert">
          The editor could not be loaded.
        </p>
      )}
      <div ref={parent} />
      <ul class="rows" aria-label="Problems">
        {problems.map(({ line, column, message }) => (
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
        <Button onClick={() => onDuplicate(text.current)}>Duplicate</Button>
        <Button onClick={() => save(`${name}.yaml`, text.current)}>Download YAML</Button>
        <ConfirmButton label="Delete" name={`Delete ${name}`} onConfirm={remove} />
      </div>
      <NameForm label="Name" action="Rename" value={name} onName={rename} />
      <p class="quiet">
        Ctrl+Space completes, Ctrl+Enter saves and turns on. The file works with{' '}
        <code>--scenario</code>.
      </p>
    </Panel>
  );
}
