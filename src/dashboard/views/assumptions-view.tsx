import { useEffect } from 'preact/hooks';
import type { AssumptionState } from '../../control/control-shapes.ts';
import { call } from '../client/control-calls.ts';
import { Loading } from '../parts/loading.tsx';
import { Prose } from '../parts/prose.tsx';
import { shortened, visible } from '../parts/visible-text.ts';
import { place, refine } from '../state/place.ts';
import { perform, useResource } from '../state/resource.ts';

/** The open questions of the document, and the option that the sandbox uses for each. */
export function AssumptionsView() {
  const { item, query } = place.value;
  const list = useResource('', (signal) =>
    call<readonly AssumptionState[]>('GET', '/assumptions', { signal }),
  );
  const there = list.value !== undefined;
  useEffect(() => {
    if (item !== undefined && there) document.getElementById(`assumption-${item}`)?.focus();
  }, [item, there]);
  if (list.value === undefined) return <Loading resource={list} />;
  const choose = async (id: string, option: string) => {
    await perform(`${id} is ${option}.`, () =>
      call('PATCH', '/assumptions', { body: { [id]: option } }),
    );
    list.reload();
  };
  const text = query.get('text') ?? '';
  const filter = {
    text: text.toLowerCase(),
    changed: query.has('changed'),
    drift: query.has('drift'),
  };
  const shown = list.value.filter((it) => passes(it, filter));
  return (
    <>
      <p class="quiet">
        The interface document leaves these questions open. The mock picks the first option of each;
        a client that works under every option is safe from all of them.
      </p>
      <search class="filters">
        <label>
          Text
          <input
            type="search"
            value={text}
            onInput={({ currentTarget }) => refine({ text: currentTarget.value })}
          />
        </label>
        <button
          type="button"
          aria-pressed={query.has('changed')}
          onClick={() => refine({ changed: query.has('changed') ? '' : 'yes' })}
        >
          Only changed
        </button>
        {list.value.some(({ checked }) => checked !== undefined) && (
          <button
            type="button"
            aria-pressed={filter.drift}
            onClick={() => refine({ drift: filter.drift ? '' : 'yes' })}
          >
            Only drift
          </button>
        )}
      </search>
      {shown.length === 0 && <p class="empty">No assumption passes this filter.</p>}
      {shown.map((it) => (
        <Assumption key={it.id} of={it} opened={it.id === item} onChoose={choose} />
      ))}
    </>
  );
}

interface Filter {
  readonly text: string;
  readonly changed: boolean;
  readonly drift: boolean;
}

function passes(of: AssumptionState, { text, changed, drift }: Filter): boolean {
  if ((changed && of.chosen === of.default) || (drift && !drifts(of))) return false;
  const words = [of.id, of.topic, of.question, ...of.options.map(({ meaning }) => meaning)];
  return words.join(' ').toLowerCase().includes(text);
}

/** Whether the deployment that was checked answers differently. */
function drifts({ checked, chosen }: AssumptionState): boolean {
  if (checked === undefined || checked.verdict === 'open') return false;
  return checked.option !== chosen;
}

interface Chosen {
  readonly of: AssumptionState;
  readonly opened: boolean;
  readonly onChoose: (id: string, option: string) => void;
}

function Assumption({ of, opened, onChoose }: Chosen) {
  const { id, topic, question, operations, options, chosen } = of;
  return (
    <fieldset id={`assumption-${id}`} tabIndex={-1} class={opened ? 'card opened' : 'card'}>
      <legend>
        <b>
          <Prose text={question} />
        </b>
      </legend>
      <p class="quiet">
        {topic} · <code>{id}</code> · changes {operations.join(', ')}
        {chosen !== of.default && <span class="badge assumed">changed</span>}
      </p>
      <Verdict of={of} />
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
    </fieldset>
  );
}

/** Characters of the exchanges that a verdict rests on. */
const MOST_REASON = 500;

/** What a check of a deployment found out. */
function Verdict({ of }: Pick<Chosen, 'of'>) {
  const { checked } = of;
  if (checked === undefined) return null;
  const { deployment, at, verdict, option, why } = checked;
  const answer = option === undefined ? verdict.replaceAll('-', ' ') : option;
  return (
    <p>
      <span class={drifts(of) ? 'badge failed' : 'badge documented'}>
        {drifts(of) ? 'drift' : verdict}
      </span>{' '}
      {visible(deployment)}: <code>{visible(answer)}</code>, checked on {at.slice(0, 10)}
      {why !== undefined && <span class="quiet"> ({shortened(visible(why), MOST_REASON)})</span>}
    </p>
  );
}
