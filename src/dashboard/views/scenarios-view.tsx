import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ScenarioProblem, ScenarioSummary } from '../../control/control-shapes.ts';
import type { Editor } from '../editor/scenario-editor.ts';
import { Button, ConfirmButton, save } from '../parts/buttons.tsx';
import { NameForm } from '../parts/form.tsx';
import { Panel } from '../parts/panel.tsx';
import { Loading, visible } from '../parts/texts.tsx';
import { go, hrefOf, place, unsaved } from '../state/place.ts';
import { act, attempt, OFTEN, useResource } from '../state/resource.ts';
import {
  activeNames,
  addScenario,
  EXAMPLE,
  renameScenario,
  saveScenario,
  scenarioText,
} from '../state/scenarios.ts';
import { call } from '../state/session.ts';

/** Switches for the scenarios, and one of the user's own in an editor. */
export function ScenariosView() {
  const { item } = place.value;
  const list = useResource<readonly ScenarioSummary[]>('/scenarios', OFTEN);
  const switched = useRef('');
  useEffect(() => {
    // A switched scenario moves to the other list, and the focus with it.
    document.getElementById(`scenario-${switched.current}`)?.focus();
    switched.current = '';
  }, [list.value]);
  if (list.value === undefined) return <Loading resource={list} />;
  const all = list.value;
  const names = activeNames(all);
  const available = all.filter((it) => it.active === undefined);
  const use = (done: string, scenarios: readonly string[]) =>
    act(done, 'PUT', '/scenario', { body: { scenarios } });
  const turn = async (name: string) => {
    const others = names.filter((it) => it !== name);
    await (names.includes(name)
      ? use(`Turned off ${name}.`, others)
      : use(`Turned on ${name}.`, [...names, name]));
    switched.current = name;
  };
  const create = async (name: string, text: string | Promise<string>) => {
    const isDone = await attempt(`Created ${name}.`, async () => addScenario(name, await text));
    if (isDone) go('scenarios', name);
    return isDone;
  };
  const rowsOf = (title: string, rows: readonly ScenarioSummary[], empty: ComponentChildren) => (
    <section aria-label={title}>
      <h2>{title}</h2>
      {rows.length === 0 && <p class="empty">{empty}</p>}
      <ul class="rows">
        {rows.map(({ name, description, active, own, shipped }) => (
          <li key={name} class="scenario">
            <label>
              <input
                id={`scenario-${name}`}
                type="checkbox"
                class="switch"
                checked={active !== undefined}
                onChange={() => turn(name)}
              />{' '}
              <b>{visible(name)}</b>
            </label>
            <span class="quiet">{visible(description)}</span>
            {names.indexOf(name) > 0 && (
              <Button
                aria-label={`Move ${name} up`}
                onClick={() => use(`Moved ${name}.`, movedUp(names, name))}
              >
                ↑
              </Button>
            )}
            {own && (
              <a href={hrefOf('scenarios', name)} aria-label={`Edit ${name}`}>
                Edit
              </a>
            )}
            {shipped && !own && (
              <Button
                aria-label={`Edit a copy of ${name}`}
                onClick={() => create(copyOf(name, all), scenarioText(name))}
              >
                Edit a copy
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
  const opened = all.find((it) => it.name === item && it.own);
  return (
    <div class={opened === undefined ? '' : 'split'}>
      <div>
        <NameForm label="New scenario" action="Create" onName={(name) => create(name, EXAMPLE)} />
        {rowsOf(
          'Active',
          names.flatMap((name) => all.filter((it) => it.name === name)),
          'None. The mock answers from its store alone.',
        )}
        {names.length > 1 && <p class="quiet">Later scenarios win over earlier ones.</p>}
        {rowsOf(
          'Yours',
          available.filter((it) => it.own),
          <>
            Make one with <i>New scenario</i>, <i>Edit a copy</i>, or <i>Make a rule</i> at an{' '}
            <a href={hrefOf('exchanges')}>exchange</a>.
          </>,
        )}
        {rowsOf(
          'Available scenarios',
          available.filter((it) => !it.own),
          'All are active.',
        )}
      </div>
      {opened !== undefined && (
        <ScenarioPanel
          key={opened.name}
          name={opened.name}
          isActive={opened.active !== undefined}
          onDuplicate={(text) => create(copyOf(opened.name, all), text)}
        />
      )}
    </div>
  );
}

function movedUp(names: readonly string[], name: string): string[] {
  const index = names.indexOf(name);
  return names.toSpliced(index, 1).toSpliced(index - 1, 0, name);
}

/** A free name for a copy. */
function copyOf(name: string, all: readonly ScenarioSummary[]): string {
  const base = `my-${name.replace(/^my-/, '')}`;
  let copy = base;
  for (let number = 2; all.some((it) => it.name === copy); number += 1) copy = `${base}-${number}`;
  return copy;
}

interface ScenarioPanelProps {
  readonly name: string;
  readonly isActive: boolean;
  readonly onDuplicate: (text: string) => void;
}

/** A scenario of the user's own, in an editor that is loaded when it is opened. */
function ScenarioPanel({ name, isActive, onDuplicate }: ScenarioPanelProps) {
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
    const latest = text.current;
    if (!(await attempt(done, () => saveScenario(name, latest, turnOn)))) return;
    saved.current = latest;
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
          const reply = await call<{ problems: readonly ScenarioProblem[] }>(
            ...(['POST', '/scenario/check', { body: { text: edited } }] as const),
          );
          setProblems(reply.problems);
          return reply.problems;
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
    const isDone = await attempt(done, () => renameScenario(name, text.current, next));
    if (isDone) leave(next);
    return isDone;
  };
  const remove = async () => {
    await act(`Deleted ${name}.`, 'DELETE', `/scenarios/${name}`);
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
