import { useRef } from 'preact/hooks';
import { rowNames } from '../../../core/words.ts';
import { Button, Refusal } from '../parts/buttons.tsx';
import { FormField, NameForm, QuerySearch } from '../parts/form.tsx';
import { Late, Loading } from '../parts/panel.tsx';
import { Rows } from '../parts/table.tsx';
import { visible } from '../parts/texts.tsx';
import { attempt, usePolled } from '../state/resource.ts';
import { formatHref, go, route } from '../state/route.ts';
import {
  addScenario,
  EXAMPLE,
  fetchScenario,
  keepDraft,
  listDrafts,
  moveScenario,
  readDraft,
  turnScenario,
} from '../state/scenarios.ts';
import { client, notice, type ScenarioSummary } from '../state/session.ts';
import { status } from '../state/settings.ts';

export function ScenariosView() {
  const { item } = route.value;
  const list = usePolled('scenarios', (signal) => client.call('GET /scenarios', { signal }));
  const last = useRef<string | undefined>(undefined);
  const all = list.value ?? [];
  const { scenarios: names = [] } = status.value ?? {};
  // Their rows are on top, and no switch moves a row from under the hand.
  const top = useRef<readonly string[] | undefined>(undefined);
  if (status.value !== undefined) top.current ??= names;
  const own = all.filter((scenario) => scenario.own);
  const opened = own.find(({ name }) => name === item);
  // What was typed outlives the scenario: its server may have restarted, or somebody has deleted it.
  if (opened !== undefined) last.current = item;
  const isOpen = item !== undefined && (item === last.current || readDraft(item) !== undefined);
  const create = async (name: string, read: () => Promise<string> | string) => {
    const add = async () => addScenario(name, await read()).then(() => () => go('scenarios', name));
    const isDone = await attempt(`Created ${name}.`, add);
    if (!isDone) {
      // It is there to be mended.
      const text = await read();
      if (!all.some((other) => other.name === name)) keepDraft(name, { text, etag: undefined });
      if (notice.value) notice.value = { ...notice.value, text: `${name}: ${notice.value.text}` };
    }
    if (!isDone && readDraft(name) !== undefined) go('scenarios', name);
    return isDone;
  };
  const copy = (name: string, read: () => Promise<string> | string) =>
    create(findFreeName(name, all), read);
  if (list.value === undefined || status.value === undefined) return <Loading of={list} />;
  const rowOf = (scenario: ScenarioSummary) => (
    <ScenarioRow
      of={scenario}
      active={names}
      onCopy={() => copy(scenario.name, async () => (await fetchScenario(scenario.name)).text)}
    />
  );
  const words = (route.value.query.get('q') ?? '').toLowerCase().split(/\s+/);
  const found = all.filter(({ name, description }) =>
    words.every((word) => `${name} ${description}`.toLowerCase().includes(word)),
  );
  const isOnTop = ({ name }: ScenarioSummary) => top.current?.includes(name) === true;
  const drafts = listDrafts().filter((name) => !own.some((scenario) => scenario.name === name));
  const sections = [
    ['Recently on', found.filter(isOnTop)],
    ['Yours', found.filter((one) => one.own && !isOnTop(one))],
    ...rowNames(KINDS).map(
      (kind) =>
        [kind, found.filter((one) => !one.own && !isOnTop(one) && kindOf(one) === kind)] as const,
    ),
  ] as const;
  return (
    <div class={isOpen ? 'split' : ''}>
      <div>
        <div class="bar">
          <NameForm
            label="New scenario"
            action="Create"
            onName={(name) => create(name, () => EXAMPLE)}
          />
          <FormField
            name="files"
            label="Import files"
            type="file"
            multiple
            accept=".yaml,.yml,.json"
            onChange={async ({ currentTarget }) => {
              const problems: string[] = [];
              for (const file of currentTarget.files ?? []) {
                const name = file.name.replace(/\.\w+$/, '').replaceAll(/[^\w.-]+/g, '-');
                const isDone = await create(name, () => file.text());
                if (!isDone) problems.push(notice.value?.text ?? name);
              }
              if (problems.length > 0) notice.value = { kind: 'failed', text: problems.join(' ') };
              currentTarget.value = '';
            }}
          />
        </div>
        <search class="bar">
          <QuerySearch name="q" placeholder="Search scenarios" />
          <a href={formatHref('exchanges', 'rule')}>Draft a rule</a>
        </search>
        <p class="quiet">
          Rules come before keys and records. Among each of these, the later of several scenarios
          wins.
        </p>
        {sections.map(
          ([title, rows]) =>
            rows.length > 0 && (
              <section key={title} aria-label={title}>
                <h2>{title}</h2>
                <Rows of={rows} keyOf={({ name }) => name}>
                  {rowOf}
                </Rows>
              </section>
            ),
        )}
        {found.length === 0 && <p class="empty">No scenario has these words.</p>}
        {drafts.map((name) => (
          <p key={name}>
            <a href={formatHref('scenarios', name)}>{name}</a>: not saved; the server does not have
            it
          </p>
        ))}
        <p class="quiet">
          Scenarios of your own end with the server: download what you want to keep, or start it
          with <code>--scenarios DIR</code>.
        </p>
      </div>
      {isOpen && (
        <Late load={() => import('./scenario-panel.tsx')}>
          {({ ScenarioPanel }) => (
            <ScenarioPanel
              key={item}
              name={item}
              isActive={names.includes(item)}
              onDuplicate={(text) => copy(item, () => text)}
            />
          )}
        </Late>
      )}
    </div>
  );
}

/** What ships, told by its name: the first that matches. */
const KINDS = {
  'Keys and limits': /key|rate/,
  Data: /store|orders|inventory|sold|ids/,
  'Failures and delays': /^/,
};

function kindOf({ name }: ScenarioSummary) {
  return rowNames(KINDS).find((kind) => KINDS[kind].test(name));
}

interface RowProps {
  readonly of: ScenarioSummary;
  readonly active: readonly string[];
  readonly onCopy: () => unknown;
}

function ScenarioRow({ of: { name, description, own, shipped }, active, onCopy }: RowProps) {
  const index = active.indexOf(name);
  const turn = () => turnScenario(name, index < 0);
  const moveUp = () => moveScenario(name, active[index - 1] ?? '');
  return (
    <>
      <label>
        <input type="checkbox" class="switch" checked={index >= 0} onChange={turn} />{' '}
        <b>{visible(name)}</b>
      </label>
      <span class="quiet grow">
        {visible(description)} <Refusal of={name} />
      </span>
      {index >= 0 && active.length > 1 && (
        <span class="badge">
          {index + 1} of {active.length}
        </span>
      )}
      {index > 0 && <Button label="↑" aria-label={`Move ${name} up`} onClick={moveUp} />}
      {own && (
        <a href={formatHref('scenarios', name)} aria-label={`Edit ${name}`}>
          {readDraft(name) === undefined ? 'Edit' : 'Edit (not saved)'}
        </a>
      )}
      {shipped && !own && (
        <Button class="link" label="Edit a copy" of={`of ${name}`} onClick={onCopy} />
      )}
    </>
  );
}

function findFreeName(name: string, all: readonly ScenarioSummary[]): string {
  const base = `my-${name.replace(/^my-/, '')}`;
  const isTaken = (copy: string) => all.some((other) => other.name === copy);
  let copy = base;
  for (let number = 2; isTaken(copy); number += 1) copy = `${base}-${number}`;
  return copy;
}
