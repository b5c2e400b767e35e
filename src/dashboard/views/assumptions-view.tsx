import { useEffect } from 'preact/hooks';
import type { AssumptionState, Findings } from '../../control/control-shapes.ts';
import type { Finding } from '../../sandbox/report-shapes.ts';
import { QueryChip, QuerySearch } from '../parts/query-inputs.tsx';
import { Loading, Prose, shorten, visible } from '../parts/texts.tsx';
import { hrefOf, place } from '../state/place.ts';
import { act, OFTEN, useResource } from '../state/resource.ts';
import { FindingItems } from './coverage-view.tsx';

/** The open questions of the document, and the option that the sandbox uses for each. */
export function AssumptionsView() {
  const { item } = place.value;
  const list = useResource<readonly AssumptionState[]>('/assumptions', OFTEN);
  const findings = useResource<Findings>('/findings', OFTEN);
  const drift = findings.value?.findings.filter(({ code }) => code === 'drift') ?? [];
  const there = list.value !== undefined;
  useEffect(() => {
    if (item !== undefined && there) document.getElementById(`assumption-${item}`)?.focus();
  }, [item, there]);
  if (list.value === undefined) return <Loading resource={list} />;
  const choose = (id: string, option: string) =>
    act(doneWith(id, option), 'PATCH', '/assumptions', { body: { [id]: option } });
  const entries = list.value.map((of) => ({ of, drift: drift.filter((it) => names(it, of.id)) }));
  const shown = entries.filter(passes);
  return (
    <>
      <p class="quiet">
        The interface document leaves these questions open. The mock picks the first option of each;
        a client that works under every option is safe from all of them.
      </p>
      <search class="bar">
        <QuerySearch name="text" what="questions and options" />
        <QueryChip name="changed" label="Only changed" />
        {entries.some((it) => it.drift.length > 0 || it.of.checked !== undefined) && (
          <QueryChip name="drift" label="Only drift" />
        )}
      </search>
      {shown.length === 0 && <p class="empty">No assumption passes this filter.</p>}
      {shown.map((it) => (
        <Assumption key={it.of.id} {...it} opened={it.of.id === item} onChoose={choose} />
      ))}
    </>
  );
}

function doneWith(id: string, option: string): string {
  return id === 'after-sunset' && /^\d+$/.test(option)
    ? `GET /pets/{petId} now gets ${option} after its sunset.`
    : `${id} is ${option}.`;
}

/** Whether a finding names the option of an assumption. */
function names({ message }: Finding, id: string): boolean {
  return message.includes(`${id}=`);
}

/** Whether an assumption passes the filters in the page's address. */
function passes(entry: AssumptionDrift): boolean {
  const { query } = place.value;
  const { of } = entry;
  if (query.has('changed') && of.chosen === of.default) return false;
  if (query.has('drift') && !drifts(entry)) return false;
  const words = [of.id, of.topic, of.question, ...of.options.map(({ meaning }) => meaning)];
  return words
    .join(' ')
    .toLowerCase()
    .includes(query.get('text')?.toLowerCase() ?? '');
}

/** An assumption, and the replies of the deployment that contradict its option. */
interface AssumptionDrift {
  readonly of: AssumptionState;
  readonly drift: readonly Finding[];
}

/** Whether the deployment answers otherwise, by the check or by its replies. */
function drifts({ of: { checked, chosen }, drift }: AssumptionDrift): boolean {
  const isOther = checked !== undefined && checked.verdict !== 'open' && checked.option !== chosen;
  return isOther || drift.length > 0;
}

/** What a check of a deployment found out. */
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

interface AssumptionProps extends AssumptionDrift {
  readonly opened: boolean;
  readonly onChoose: (id: string, option: string) => void;
}

function Assumption({ of, drift, opened, onChoose }: AssumptionProps) {
  const { id, topic, question, operations, options, chosen } = of;
  return (
    <div
      id={`assumption-${id}`}
      role="radiogroup"
      aria-labelledby={`question-${id}`}
      tabIndex={-1}
      class={opened ? 'card opened' : 'card'}
    >
      <h2 id={`question-${id}`}>
        <Prose text={question} />
      </h2>
      <p class="quiet">
        {topic} · <code>{id}</code> · changes {operations.join(', ')} ·{' '}
        <a href={hrefOf('exchanges', undefined, { search: `by:${id}=` })}>
          calls that depended on it
        </a>
        {chosen !== of.default && <span class="badge assumed">changed</span>}
      </p>
      {drifts({ of, drift }) && <span class="badge failed">drift</span>}
      {of.checked !== undefined && <Verdict checked={of.checked} />}
      <FindingItems of={drift} />
      {options.map(({ name, meaning }) => (
        <label key={name} class="option">
          <input
            type="radio"
            name={id}
            checked={name === chosen}
            onChange={() => onChoose(id, name)}
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
