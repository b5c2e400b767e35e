import { useRef } from 'preact/hooks';
import { rowNames } from '../../../core/tables.ts';
import { Button, Refusal } from '../parts/buttons.tsx';
import { FormField, NameForm, passesSearch, QuerySearch } from '../parts/form.tsx';
import { Late, Loading } from '../parts/panel.tsx';
import { Rows } from '../parts/table.tsx';
import { visible } from '../parts/texts.tsx';
import { usePolled } from '../state/resource.ts';
import { formatHref, route } from '../state/route.ts';
import {
  copyScenario,
  createScenario,
  fetchScenario,
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
  // Their rows are on top, and no switch moves a row from under the hand.
  const top = useRef<readonly string[] | undefined>(undefined);
  top.current ??= status.value?.scenarios;
  const own = all.filter((scenario) => scenario.own);
  const opened = own.find(({ name }) => name === item);
  // What was typed outlives the scenario: its server may have restarted, or somebody has deleted it.
  if (opened !== undefined) last.current = item;
  const isOpen = item !== undefined && (item === last.current || readDraft(item) !== undefined);
  if (list.value === undefined || status.value === undefined) return <Loading of={list} />;
  const found = all.filter((one) => passesSearch('q', `${one.name} ${one.description}`));
  const titleOf = ({ name, own: isOwn }: ScenarioSummary) => {
    if (top.current?.includes(name)) return 'Recently on';
    return isOwn ? 'Yours' : rowNames(KINDS).find((kind) => KINDS[kind].test(name));
  };
  const drafts = listDrafts().filter((name) => !own.some((scenario) => scenario.name === name));
  return (
    <div class={isOpen ? 'split' : ''}>
      <div>
        <div class="bar">
          <NameForm label="New scenario" action="Create" onName={createScenario} />
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
                const isDone = await createScenario(name, () => file.text());
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
        {TITLES.map((title) => {
          const rows = found.filter((scenario) => titleOf(scenario) === title);
          return (
            rows.length > 0 && (
              <section key={title} aria-label={title}>
                <h2>{title}</h2>
                <Rows of={rows} keyOf={({ name }) => name}>
                  {(scenario) => <ScenarioRow of={scenario} />}
                </Rows>
              </section>
            )
          );
        })}
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
          {({ ScenarioPanel }) => <ScenarioPanel key={item} name={item} />}
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

const TITLES = ['Recently on', 'Yours', ...rowNames(KINDS)];

function ScenarioRow({ of: { name, description, own, shipped } }: { of: ScenarioSummary }) {
  const active = status.value?.scenarios ?? [];
  const index = active.indexOf(name);
  const turn = () => turnScenario(name, index < 0);
  const moveUp = () => moveScenario(name, active[index - 1] ?? '');
  const edit = () => copyScenario(name, async () => (await fetchScenario(name)).text);
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
        <Button class="link" label="Edit a copy" of={`of ${name}`} onClick={edit} />
      )}
    </>
  );
}
