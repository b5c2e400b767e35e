import { useEffect } from 'preact/hooks';
import type { AssumptionState } from '../../control/control-shapes.ts';
import { call } from '../client/control-calls.ts';
import { Loading } from '../parts/loading.tsx';
import { Prose } from '../parts/prose.tsx';
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
  const shown = list.value.filter((it) => passes(it, text.toLowerCase(), query.has('changed')));
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
      </search>
      {shown.length === 0 && <p class="empty">No assumption passes this filter.</p>}
      {shown.map((it) => (
        <Assumption key={it.id} of={it} opened={it.id === item} onChoose={choose} />
      ))}
    </>
  );
}

function passes(of: AssumptionState, text: string, onlyChanged: boolean): boolean {
  if (onlyChanged && of.chosen === of.default) return false;
  const words = [of.id, of.topic, of.question, ...of.options.map(({ meaning }) => meaning)];
  return words.join(' ').toLowerCase().includes(text);
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
