import { useEffect } from 'preact/hooks';
import type { ReplyOf } from '../../../client/control-client.ts';
import { OPERATION_IDS } from '../../../core/contract/operations.ts';
import { Refusal } from '../parts/buttons.tsx';
import { FindingItems } from '../parts/coverage.tsx';
import { passesSearch, QueryChip, QuerySearch } from '../parts/form.tsx';
import { Loading } from '../parts/panel.tsx';
import { Prose, shorten, visible } from '../parts/texts.tsx';
import { usePolled } from '../state/resource.ts';
import { formatHref, plural, route } from '../state/route.ts';
import { client, type ListedFinding } from '../state/session.ts';
import { chooseOption, optionOf, status } from '../state/settings.ts';

type Assumption = ReplyOf<'GET /assumptions'>[number];

interface Entry extends Assumption {
  readonly drift: readonly ListedFinding[];
  readonly drifts: boolean;
}

const SEVERAL = 'Several operations';

const TITLES = [...OPERATION_IDS, SEVERAL];

export function AssumptionsView() {
  const { item } = route.value;
  const list = usePolled('assumptions', (signal) => client.call('GET /assumptions', { signal }));
  const found = usePolled('findings', (signal) => client.call('GET /findings', { signal }));
  const isThere = list.value !== undefined;
  useEffect(() => {
    if (item !== undefined && isThere) document.getElementById(`assumption-${item}`)?.focus();
  }, [item, isThere]);
  if (list.value === undefined) return <Loading of={list} />;
  const entries = list.value.map((listed): Entry => {
    const { id, checked } = listed;
    const chosen = optionOf(listed);
    const isDrift = ({ code, message }: ListedFinding) =>
      code === 'drift' && message.includes(`${id}=`);
    const drift = found.value?.findings.filter(isDrift) ?? [];
    const isOther = checked && checked.verdict !== 'open' && checked.option !== chosen;
    return { ...listed, chosen, drift, drifts: isOther || drift.length > 0 };
  });
  const shown = entries.filter(isShown);
  const isCompared =
    status.value?.upstream !== undefined || list.value.some(({ checked }) => checked !== undefined);
  const titleOf = ({ operations: [first, second] }: Entry) => (second ? SEVERAL : first);
  return (
    <>
      <p class="quiet">
        The interface document leaves these questions open. The mock picks the first option of each;
        a client that works under every option is safe from all of them.
      </p>
      <search class="bar">
        <QuerySearch name="text" placeholder="Search questions and options" />
        <QueryChip name="changed" label="Only changed" />
        <QueryChip name="used" label="Only with calls" />
        {isCompared && <QueryChip name="drift" label="Only drift" />}
      </search>
      {shown.length === 0 && <p class="empty">No assumption passes this filter.</p>}
      {TITLES.map((title) => {
        const own = shown.filter((entry) => titleOf(entry) === title);
        return (
          own.length > 0 && (
            <section key={title} aria-label={title}>
              <h2>{title}</h2>
              <div class="cards">
                {own.map((entry) => (
                  <AssumptionCard key={entry.id} of={entry} />
                ))}
              </div>
            </section>
          )
        );
      })}
    </>
  );
}

function isShown(of: Entry): boolean {
  const { query } = route.value;
  if (query.has('changed') && of.chosen === of.default) return false;
  if (query.has('used') && of.calls === 0) return false;
  if (query.has('drift') && !of.drifts) return false;
  const meanings = of.options.map(({ meaning }) => meaning);
  const texts = [of.id, of.topic, of.question, ...of.operations, ...meanings].join(' ');
  return passesSearch('text', texts);
}

function formatChoice(id: string, option: string): string {
  const isSunset = id === 'after-sunset' && /^\d+$/.test(option);
  return isSunset
    ? `GET /pets/{petId} now gets ${option} after its sunset.`
    : `${id} is ${option}.`;
}

function AssumptionCard({ of }: { readonly of: Entry }) {
  const { id, topic, question, operations, options, chosen, checked, calls = 0 } = of;
  return (
    <div
      id={`assumption-${id}`}
      role="radiogroup"
      aria-labelledby={`question-${id}`}
      tabIndex={-1}
      class={id === route.value.item ? 'card opened' : 'card'}
    >
      <h3 id={`question-${id}`}>
        <Prose text={question} />
      </h3>
      <p class="quiet">
        {topic} · <code>{id}</code>
        {operations.length > 1 && ` · ${operations.join(', ')}`}{' '}
        {calls > 0 && (
          <a href={formatHref('exchanges', undefined, { search: `basis:assumed by:${id}=` })}>
            {plural(calls, 'call')} depended on this
          </a>
        )}{' '}
        {chosen !== of.default && <span class="badge assumed">changed</span>}
      </p>
      {of.drifts && <span class="badge failed">drift</span>}
      {checked !== undefined && (
        <p>
          {visible(checked.deployment)}:{' '}
          <code>{visible(checked.option ?? checked.verdict.replaceAll('-', ' '))}</code>, checked on{' '}
          {checked.at.slice(0, 10)}{' '}
          {checked.why && <span class="quiet">({shorten(visible(checked.why), 500)})</span>}
        </p>
      )}
      <FindingItems of={of.drift} />
      <Refusal of={id} />
      {options.map(({ name, meaning }) => (
        <label key={name} class="option">
          <input
            type="radio"
            name={id}
            checked={name === chosen}
            onChange={() => chooseOption(of, name, formatChoice(id, name))}
          />
          <span>
            <code>{name}</code>
            {name === of.default && <span class="quiet"> (default)</span>}: <Prose text={meaning} />
          </span>
        </label>
      ))}
    </div>
  );
}
