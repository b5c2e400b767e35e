import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ScenarioSummary } from '../../control/control-shapes.ts';
import { Button } from '../parts/buttons.tsx';
import { NameForm } from '../parts/form.tsx';
import { Loading } from '../parts/loading.tsx';
import { visible } from '../parts/texts.tsx';
import { go, hrefOf, place } from '../state/place.ts';
import { act, OFTEN, perform, useResource } from '../state/resource.ts';
import { activeNames, addScenario, EXAMPLE, scenarioText } from '../state/scenarios.ts';
import { ScenarioPanel } from './scenario-panel.tsx';

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
    const isDone = await perform(`Created ${name}.`, async () => addScenario(name, await text));
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
