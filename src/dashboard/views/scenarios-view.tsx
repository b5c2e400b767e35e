import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ScenarioSummary } from '../../control/control-shapes.ts';
import { open } from '../client/control-calls.ts';
import { Loading } from '../parts/loading.tsx';
import { visible } from '../parts/visible-text.ts';
import { editDraft } from '../state/draft.ts';
import { hrefOf, place } from '../state/place.ts';
import { OFTEN, perform, useResource } from '../state/resource.ts';
import { DraftSection } from './draft-section.tsx';

/** The name of the scenario that a request contains. */
const WRITTEN = 'request';

/** Switches for the scenarios, and an editor for the user's own. */
export function ScenariosView() {
  const isEditing = place.value.item === 'edit';
  const list = useResource<readonly ScenarioSummary[]>('/scenarios', OFTEN);
  const switched = useRef('');
  useEffect(() => {
    // A switched scenario moves to the other list, and the focus with it.
    document.getElementById(`scenario-${switched.current}`)?.focus();
    switched.current = '';
  }, [list.value]);
  if (list.value === undefined) return <Loading resource={list} />;
  const active = list.value
    .filter((it) => it.active !== undefined)
    .sort((a, b) => (a.active ?? 0) - (b.active ?? 0));
  const others = list.value.filter((it) => it.active === undefined);
  const names = active.map(({ name }) => name);
  const use = async (done: string, body: object, name = '') => {
    const isDone = await list.act(done, 'PUT', '/scenario', { body });
    switched.current = name;
    return isDone;
  };
  const turnOn = (name: string) => use(`Turned on ${name}.`, { scenarios: [...names, name] }, name);
  const turnOff = (name: string) =>
    use(`Turned off ${name}.`, { scenarios: names.filter((it) => it !== name) }, name);
  const moveUp = (name: string) => use(`Moved ${name}.`, { scenarios: movedUp(names, name) });
  return (
    <div class={isEditing ? 'split' : ''}>
      <div>
        <section aria-label="Active scenarios">
          <h2>Active</h2>
          {active.length === 0 && <p class="empty">None. The mock answers from its store alone.</p>}
          {active.length > 1 && <p class="quiet">Later scenarios win over earlier ones.</p>}
          <ol class="rows">
            {active.map((it, index) => (
              <ScenarioRow key={it.name} of={it} onSwitch={turnOff}>
                {index > 0 && (
                  <button
                    type="button"
                    aria-label={`Move ${it.name} up`}
                    onClick={() => moveUp(it.name)}
                  >
                    ↑
                  </button>
                )}
              </ScenarioRow>
            ))}
          </ol>
        </section>
        <section aria-label="Other scenarios">
          <div class="bar">
            <h2>Others</h2>
            {!isEditing && <a href={hrefOf('scenarios', 'edit')}>Write your own</a>}
          </div>
          <ul class="rows">
            {others.map((it) => (
              <ScenarioRow key={it.name} of={it} onSwitch={turnOn} />
            ))}
          </ul>
        </section>
      </div>
      {isEditing && (
        <DraftSection
          onApply={(text) =>
            use('Turned on your scenario.', {
              scenarios: names.filter((it) => it !== WRITTEN),
              text,
            })
          }
        />
      )}
    </div>
  );
}

function movedUp(names: readonly string[], name: string): string[] {
  const index = names.indexOf(name);
  return names.toSpliced(index, 1).toSpliced(index - 1, 0, name);
}

interface RowProps {
  readonly of: ScenarioSummary;
  readonly onSwitch: (name: string) => void;
  readonly children?: ComponentChildren;
}

function ScenarioRow({ of, onSwitch, children }: RowProps) {
  const { name, description, shipped, active } = of;
  const copy = () =>
    perform(`Copied ${name} into the editor.`, async () => {
      editDraft(await (await open('GET', `/scenarios/${name}`)).text());
    });
  return (
    <li class="scenario">
      <label>
        <input
          id={`scenario-${name}`}
          type="checkbox"
          checked={active !== undefined}
          onChange={() => onSwitch(name)}
        />{' '}
        <b>{visible(name)}</b>
      </label>
      <span class="quiet">{visible(description)}</span>
      {children}
      {shipped && (
        <button type="button" aria-label={`Edit a copy of ${name}`} onClick={copy}>
          Edit a copy
        </button>
      )}
    </li>
  );
}
