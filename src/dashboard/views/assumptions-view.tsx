import { useEffect } from 'preact/hooks';
import type { ReplyOf } from '../../client/control-client.ts';
import { OPERATION_IDS } from '../../contract/operations.ts';
import { QueryChip, QuerySearch } from '../parts/query-inputs.tsx';
import { Loading, Prose, plural, shorten, visible } from '../parts/texts.tsx';
import { formatHref, place } from '../state/place.ts';
import { attempt, POLL_INTERVAL_MS, useResource } from '../state/resource.ts';
import { client, type Finding } from '../state/session.ts';
import { FindingItems } from './coverage-view.tsx';

type AssumptionState = ReplyOf<'GET /assumptions'>[number];

export function AssumptionsView() {
  const { item } = place.value;
  const list = useResource(
    'assumptions',
    (signal) => client.call('GET /assumptions', { signal }),
    POLL_INTERVAL_MS,
  );
  const findings = useResource(
    'findings',
    (signal) => client.call('GET /findings', { signal }),
    POLL_INTERVAL_MS,
  );
  const isThere = list.value !== undefined;
  useEffect(() => {
    if (item !== undefined && isThere) document.getElementById(`assumption-${item}`)?.focus();
  }, [item, isThere]);
  if (list.value === undefined) return <Loading resource={list} />;
  const drift = findings.value?.findings.filter(({ code }) => code === 'drift') ?? [];
  const entries = list.value.map((of) => ({
    of,
    drift: drift.filter((finding) => namesOption(finding, of.id)),
  }));
  const shown = entries.filter(passes);
  const groups = [...OPERATION_IDS, SEVERAL]
    .map((name) => [name, shown.filter(({ of }) => findGroup(of) === name)] as const)
    .filter(([, group]) => group.length > 0);
  return (
    <>
      <p class="quiet">
        The interface document leaves these questions open. The mock picks the first option of each;
        a client that works under every option is safe from all of them.
      </p>
      <search class="bar">
        <QuerySearch name="text" what="questions and options" />
        <QueryChip name="changed" label="Only changed" />
        <QueryChip name="used" label="Only with calls" />
        {entries.some((it) => it.drift.length > 0 || it.of.checked !== undefined) && (
          <QueryChip name="drift" label="Only drift" />
        )}
      </search>
      {groups.length === 0 && <p class="empty">No assumption passes this filter.</p>}
      {groups.map(([operation, group]) => (
        <section key={operation} aria-label={operation}>
          <h2>{operation}</h2>
          {group.map((it) => (
            <Assumption key={it.of.id} {...it} opened={it.of.id === item} />
          ))}
        </section>
      ))}
    </>
  );
}

const SEVERAL = 'Several operations';

function findGroup({ operations: [first, ...others] }: AssumptionState): string {
  return others.length === 0 && first !== undefined ? first : SEVERAL;
}

function formatDone(id: string, option: string): string {
  return id === 'after-sunset' && /^\d+$/.test(option)
    ? `GET /pets/{petId} now gets ${option} after its sunset.`
    : `${id} is ${option}.`;
}

function namesOption({ message }: Finding, id: string): boolean {
  return message.includes(`${id}=`);
}

function passes(entry: AssumptionDrift): boolean {
  const { query } = place.value;
  const { of } = entry;
  if (query.has('changed') && of.chosen === of.default) return false;
  if (query.has('used') && of.calls === 0) return false;
  if (query.has('drift') && !drifts(entry)) return false;
  const words = [
    of.id,
    of.topic,
    of.question,
    ...of.operations,
    ...of.options.map(({ meaning }) => meaning),
  ];
  return words
    .join(' ')
    .toLowerCase()
    .includes(query.get('text')?.toLowerCase() ?? '');
}

interface AssumptionDrift {
  readonly of: AssumptionState;
  readonly drift: readonly Finding[];
}

function drifts({ of: { checked, chosen }, drift }: AssumptionDrift): boolean {
  const isOther = checked !== undefined && checked.verdict !== 'open' && checked.option !== chosen;
  return isOther || drift.length > 0;
}

function Verdict({ checked }: { readonly checked: NonNullable<AssumptionState['checked']> }) {
  const { deployment, at, verdict, option, why } = checked;
  const answer = option ?? verdict.replaceAll('-', ' ');
  return (
    <p>
      {visible(deployment)}: <code>{visible(answer)}</code>, checked on {at.slice(0, 10)}
      {why !== undefined && <span class="quiet"> ({shorten(visible(why), 500)})</span>}
    </p>
  );
}

function Assumption({ of, drift, opened }: AssumptionDrift & { readonly opened: boolean }) {
  const { id, topic, question, operations, options, chosen, calls = 0 } = of;
  const choose = (option: string) =>
    attempt(formatDone(id, option), () =>
      client.call('PATCH /assumptions', { body: { [id]: option } }),
    );
  return (
    <div
      id={`assumption-${id}`}
      role="radiogroup"
      aria-labelledby={`question-${id}`}
      tabIndex={-1}
      class={opened ? 'card opened' : 'card'}
    >
      <h3 id={`question-${id}`}>
        <Prose text={question} />
      </h3>
      <p class="quiet">
        {topic} · <code>{id}</code> · changes {operations.join(', ')} ·{' '}
        {calls === 0 ? (
          'no call depended on this'
        ) : (
          <a href={formatHref('exchanges', undefined, { search: `basis:assumed by:${id}=` })}>
            {plural(calls, 'call')} depended on this
          </a>
        )}
        {chosen !== of.default && <span class="badge assumed">changed</span>}
      </p>
      {drifts({ of, drift }) && <span class="badge failed">drift</span>}
      {of.checked !== undefined && <Verdict checked={of.checked} />}
      <FindingItems of={drift} />
      {options.map(({ name, meaning }) => (
        <label key={name} class="option">
          <input type="radio" name={id} checked={name === chosen} onChange={() => choose(name)} />
          <span>
            <code>{name}</code>
            {name === of.default && <span class="quiet"> (default)</span>}: <Prose text={meaning} />
          </span>
        </label>
      ))}
    </div>
  );
}
