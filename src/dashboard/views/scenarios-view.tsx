import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { Button } from '../parts/buttons.tsx';
import { Field, Form, NAME_INPUT, NameForm } from '../parts/form.tsx';
import { Loading, visible } from '../parts/texts.tsx';
import { formatHref, go, place } from '../state/place.ts';
import { attempt, POLL_INTERVAL_MS, useResource } from '../state/resource.ts';
import { addScenario, EXAMPLE, listActive, readDraft, readScenario } from '../state/scenarios.ts';
import { client, type ScenarioSummary } from '../state/session.ts';
import { ScenarioPanel } from './scenario-panel.tsx';

export function ScenariosView() {
  const { item } = place.value;
  const list = useResource(
    'scenarios',
    (signal) => client.call('GET /scenarios', { signal }),
    POLL_INTERVAL_MS,
  );
  const last = useRef<string | undefined>(undefined);
  if (list.value === undefined) return <Loading resource={list} />;
  const all = list.value;
  const names = listActive(all);
  const use = (done: string, scenarios: readonly string[]) =>
    attempt(done, () => client.call('PUT /scenario', { body: { scenarios } }));
  const turn = async (name: string) => {
    const others = names.filter((other) => other !== name);
    await (names.includes(name)
      ? use(`Turned off ${name}.`, others)
      : use(`Turned on ${name}.`, [...names, name]));
  };
  const create = async (name: string, text: string | Promise<string>) => {
    const isDone = await attempt(`Created ${name}.`, async () => addScenario(name, await text));
    if (isDone) go('scenarios', name);
    return isDone;
  };
  const rowsOf = (title: string, rows: readonly ScenarioSummary[], empty?: ComponentChildren) => (
    <section aria-label={title}>
      <h2>{title}</h2>
      {rows.length === 0 && <p class="empty">{empty}</p>}
      <ul class="rows">
        {rows.map(({ name, description, active, own, shipped }) => (
          <li key={name} class="scenario">
            <label>
              <input type="checkbox" checked={active !== undefined} onChange={() => turn(name)} />{' '}
              <b>{visible(name)}</b>
            </label>
            {active !== undefined && (
              <span class="badge forced">
                active{names.length > 1 && `, ${active} of ${names.length}`}
              </span>
            )}
            <span class="quiet grow">{visible(description)}</span>
            {names.indexOf(name) > 0 && (
              <Button
                aria-label={`Move ${name} up`}
                onClick={() => use(`Moved ${name}.`, moveUp(names, name))}
              >
                ↑
              </Button>
            )}
            {own && (
              <a href={formatHref('scenarios', name)} aria-label={`Edit ${name}`}>
                {readDraft(name) === undefined ? 'Edit' : 'Edit (not saved)'}
              </a>
            )}
            {shipped && !own && (
              <Button
                aria-label={`Edit a copy of ${name}`}
                onClick={() =>
                  create(
                    findFreeName(name, all),
                    readScenario(name).then(({ text }) => text),
                  )
                }
              >
                Edit a copy
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
  const own = all.filter((it) => it.own);
  const opened = own.find((it) => it.name === item);
  // What was typed outlives the scenario: its server may have restarted, or somebody has deleted it.
  if (opened !== undefined) last.current = item;
  const isOpen = item !== undefined && (item === last.current || readDraft(item) !== undefined);
  return (
    <div class={isOpen ? 'split' : ''}>
      <div>
        <NameForm label="New scenario" action="Create" onName={(name) => create(name, EXAMPLE)} />
        <details>
          <summary>Import</summary>
          <Import onImport={create} />
        </details>
        <p class="quiet">
          {names.length === 0
            ? 'None is active: the mock answers from its store alone.'
            : `Active: ${visible(names.join(', '))}. Later ones win over earlier ones.`}
        </p>
        {rowsOf(
          'Yours',
          own,
          <>
            Make one with <i>New scenario</i>, <i>Edit a copy</i>,{' '}
            <a href={formatHref('exchanges', 'rule')}>a rule</a>, or <i>Make a rule</i> at an{' '}
            <a href={formatHref('exchanges')}>exchange</a>. They end with the server: download what
            you want to keep, or start it with <code>--scenarios DIR</code>.
          </>,
        )}
        {rowsOf(
          'Others',
          all.filter((it) => !it.own),
        )}
      </div>
      {isOpen && (
        <ScenarioPanel
          key={item}
          name={item}
          isActive={opened?.active !== undefined}
          onDuplicate={(text) => create(findFreeName(item, all), text)}
        />
      )}
    </div>
  );
}

interface ImportProps {
  readonly onImport: (name: string, text: string) => Promise<boolean>;
}

function Import({ onImport }: ImportProps) {
  const read = async ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
    for (const file of currentTarget.files ?? []) {
      const name = file.name.replace(/\.\w+$/, '').replaceAll(/[^\w.-]+/g, '-');
      await onImport(name, await file.text());
    }
    currentTarget.value = '';
  };
  return (
    <>
      <Field
        name="files"
        label="Files in YAML or JSON; drop them here"
        type="file"
        multiple
        accept=".yaml,.yml,.json"
        onChange={read}
      />
      <Form
        class="form"
        draft="import"
        onSubmit={async (texts, form) => {
          const isDone = await onImport(texts.get('name') ?? '', texts.get('text') ?? '');
          if (isDone) form.reset();
          return isDone;
        }}
      >
        <Field name="text" label="Or paste a text" rows={4} required />
        <Field name="name" label="Name of the pasted scenario" {...NAME_INPUT} />
        <button type="submit">Import the text</button>
      </Form>
    </>
  );
}

function moveUp(names: readonly string[], name: string): string[] {
  const index = names.indexOf(name);
  return names.toSpliced(index, 1).toSpliced(index - 1, 0, name);
}

function findFreeName(name: string, all: readonly ScenarioSummary[]): string {
  const base = `my-${name.replace(/^my-/, '')}`;
  let copy = base;
  for (let number = 2; all.some((it) => it.name === copy); number += 1) copy = `${base}-${number}`;
  return copy;
}
