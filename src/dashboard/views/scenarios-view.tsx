import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ScenarioSummary } from '../../control/control-shapes.ts';
import { call } from '../client/control-calls.ts';
import { Button, Disclosure } from '../parts/button.tsx';
import { Loading } from '../parts/loading.tsx';
import { NameForm } from '../parts/name-form.tsx';
import { visible } from '../parts/visible-text.ts';
import { activeNames, EXAMPLE, scenarioText } from '../state/own-scenarios.ts';
import { go, hrefOf, place } from '../state/place.ts';
import { OFTEN, perform, useResource } from '../state/resource.ts';
import { ScenarioPanel } from './scenario-panel.tsx';

/** Switches for the scenarios, and one of the user's own in an editor. */
export function ScenariosView() {
  const { item } = place.value;
  const list = useResource<readonly ScenarioSummary[]>('/scenarios', OFTEN);
  const isNaming = useSignal(false);
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
  const use = async (done: string, scenarios: readonly string[], name = '') => {
    await list.act(done, 'PUT', '/scenario', { body: { scenarios } });
    switched.current = name;
  };
  const turn = (name: string) =>
    names.includes(name)
      ? use(
          `Turned off ${name}.`,
          names.filter((it) => it !== name),
          name,
        )
      : use(`Turned on ${name}.`, [...names, name], name);
  const create = async (name: string, text: string | Promise<string>) => {
    const isDone = await perform(`Created ${name}.`, async () => {
      if (all.some((it) => it.name === name))
        throw new Error(`There is a scenario ${name} already.`);
      await call('PUT', `/scenarios/${name}`, { body: await text });
    });
    if (isDone) {
      isNaming.value = false;
      list.reload();
      go('scenarios', name);
    }
    return isDone;
  };
  const rowsOf = (title: string, rows: readonly ScenarioSummary[], empty: ComponentChildren) => (
    <section aria-label={title}>
      <h2>{title}</h2>
      {rows.length === 0 && <p class="empty">{empty}</p>}
      <ul class="rows">
        {rows.map((it) => (
          <ScenarioRow key={it.name} of={it} onSwitch={turn}>
            {names.indexOf(it.name) > 0 && (
              <Button
                aria-label={`Move ${it.name} up`}
                onClick={() => use(`Moved ${it.name}.`, movedUp(names, it.name))}
              >
                ↑
              </Button>
            )}
            {it.own ? (
              <a href={hrefOf('scenarios', it.name)} aria-label={`Edit ${it.name}`}>
                Edit
              </a>
            ) : (
              it.shipped && (
                <Button
                  aria-label={`Edit a copy of ${it.name}`}
                  onClick={() => create(copyOf(it.name, all), scenarioText(it.name))}
                >
                  Edit a copy
                </Button>
              )
            )}
          </ScenarioRow>
        ))}
      </ul>
    </section>
  );
  const opened = all.find((it) => it.name === item && it.own);
  return (
    <div class={opened === undefined ? '' : 'split'}>
      <div>
        <div class="bar">
          <Disclosure of={isNaming} label="New scenario" />
        </div>
        {isNaming.value && (
          <NameForm
            label="Name of the new scenario"
            action="Create"
            onName={(name) => create(name, EXAMPLE)}
          />
        )}
        {rowsOf(
          'Active',
          names.flatMap((name) => all.filter((it) => it.name === name)),
          'None. The mock answers from its store alone.',
        )}
        {names.length > 1 && <p class="quiet">Later scenarios win over earlier ones.</p>}
        {rowsOf(
          'Yours',
          available.filter((it) => it.own),
          all.some((it) => it.own) ? (
            'All of yours are active.'
          ) : (
            <>
              Make one with <i>New scenario</i>, <i>Edit a copy</i>, or <i>Make a rule</i> at an{' '}
              <a href={hrefOf('exchanges')}>exchange</a>.
            </>
          ),
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
          of={opened}
          taken={all.map((it) => it.name)}
          onChange={list.reload}
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
  for (let number = 1; ; number += 1) {
    const copy = `my-${name.replace(/^my-/, '')}${number === 1 ? '' : `-${number}`}`;
    if (!all.some((it) => it.name === copy)) return copy;
  }
}

interface RowProps {
  readonly of: ScenarioSummary;
  readonly onSwitch: (name: string) => void;
  readonly children?: ComponentChildren;
}

function ScenarioRow({ of: { name, description, active }, onSwitch, children }: RowProps) {
  return (
    <li class="scenario">
      <label>
        <input
          id={`scenario-${name}`}
          type="checkbox"
          class="switch"
          checked={active !== undefined}
          onChange={() => onSwitch(name)}
        />{' '}
        <b>{visible(name)}</b>
      </label>
      <span class="quiet">{visible(description)}</span>
      {children}
    </li>
  );
}
