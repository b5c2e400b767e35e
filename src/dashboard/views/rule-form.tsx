import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { isOperationId } from '../../contract/operations.ts';
import type { RecordedExchange, ScenarioSummary } from '../../control/control-shapes.ts';
import { FAULT_NAMES } from '../../scenario/fault-table.ts';
import { call } from '../client/control-calls.ts';
import { Form, textsOf } from '../parts/form.tsx';
import { Loading } from '../parts/loading.tsx';
import { NAME_INPUT } from '../parts/name-form.tsx';
import { saveScenario, scenarioText } from '../state/own-scenarios.ts';
import { go, place } from '../state/place.ts';
import { perform, useLoaded } from '../state/resource.ts';
import {
  draftFor,
  draftOf,
  type RuleDraft,
  ruleIn,
  sentenceOf,
  withRule,
} from '../state/rule-drafts.ts';

/** Makes a rule of an exchange, or for a reply that was never shown, and adds it to a scenario. */
export function RuleForm() {
  const { query } = place.value;
  const [from, operation = '', status = ''] = ['from', 'operation', 'status'].map(
    (name) => query.get(name) ?? '',
  );
  const loaded = useLoaded(query.toString(), async (signal) => {
    const list = await call<readonly ScenarioSummary[]>('GET', '/scenarios', { signal });
    const own = list.filter((it) => it.own).map(({ name }) => name);
    if (isOperationId(operation)) return { own, draft: draftFor(operation, status) };
    const exchange = await call<RecordedExchange>('GET', `/requests/${from}`, { signal });
    if (exchange.operation === undefined) throw new Error('No rule matches this exchange.');
    return { own, draft: draftOf(exchange, exchange.operation) };
  });
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const leave = () => (from ? go('exchanges', from) : go('coverage', `${operation}-${status}`));
  return (
    <section class="panel" aria-labelledby="rule-title">
      <div class="bar">
        <h2 id="rule-title" ref={heading} tabIndex={-1}>
          {from ? `Make a rule of exchange ${from}` : 'Draft a rule'}
        </h2>
        <button type="button" class="far" onClick={leave}>
          Cancel
        </button>
      </div>
      {loaded.value === undefined ? (
        <Loading resource={loaded} />
      ) : (
        <Fields {...loaded.value} isForOne={!from} onDone={leave} />
      )}
    </section>
  );
}

interface FieldsProps {
  /** The names of the scenarios that it can be added to. */
  readonly own: readonly string[];
  readonly draft: RuleDraft;
  /** Whether it is for one call. */
  readonly isForOne: boolean;
  readonly onDone: () => void;
}

/** Offered first for the next rule. */
let latest = '';

function Fields({ own, draft, isForOne, onDone }: FieldsProps) {
  const scenario = useSignal(own.includes(latest) ? latest : (own[0] ?? ''));
  const sentence = useSignal('');
  const form = useRef<HTMLFormElement>(null);
  const describe = () => {
    if (form.current === null) return;
    sentence.value = sentenceOf(draft, textsOf(form.current));
  };
  useEffect(describe, [draft]);
  const add = async (texts: ReadonlyMap<string, string>) => {
    const isNew = scenario.value === '';
    const name = isNew ? (texts.get('name') ?? '') : scenario.value;
    const isDone = await perform(`Added to ${name}: ${sentence.value}`, async () => {
      if (isNew && own.includes(name)) throw new Error(`You already have a scenario ${name}.`);
      const before = isNew
        ? `description: Rules made in the dashboard.\n`
        : await scenarioText(name);
      const text = await withRule(before, ruleIn(draft, texts), sentence.value);
      await saveScenario(name, text, texts.has('on'));
    });
    if (!isDone) return;
    latest = name;
    onDone();
  };
  return (
    <Form class="form" formRef={form} onSubmit={add} onInput={describe}>
      <p class="card" role="status">
        {sentence.value}
      </p>
      <label class="field">
        Add it to
        <select
          value={scenario.value}
          onChange={({ currentTarget }) => {
            scenario.value = currentTarget.value;
          }}
        >
          {own.map((name) => (
            <option key={name}>{name}</option>
          ))}
          <option value="">a new scenario</option>
        </select>
      </label>
      {scenario.value === '' && (
        <label class="field">
          Name of the new scenario
          <input
            name="name"
            {...NAME_INPUT}
            defaultValue={own.includes('my-rules') ? '' : 'my-rules'}
          />
        </label>
      )}
      {draft.matches.size > 0 && <Matches of={draft.matches} />}
      <div class="bar fields">
        <label class="field">
          Status
          <input
            name="status"
            inputMode="numeric"
            pattern="[2-5][0-9][0-9]"
            title="200 to 599"
            size={4}
            defaultValue={draft.status}
          />
        </label>
        <label class="field">
          Fault instead
          <select name="fault" defaultValue={draft.fault}>
            {['', ...FAULT_NAMES].map((name) => (
              <option key={name} value={name} selected={name === draft.fault}>
                {name || 'none'}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          Delay in ms
          <input name="delay" inputMode="numeric" pattern="[0-9]*" size={6} />
        </label>
        <label class="field">
          Calls
          <input
            name="calls"
            size={6}
            placeholder="all"
            title="1, 1-2, 3- or 2,4"
            defaultValue={isForOne ? '1' : ''}
          />
        </label>
      </div>
      <label class="field">
        Headers, one a line
        <textarea name="headers" rows={2} defaultValue={draft.headers} />
      </label>
      <label class="field">
        Body
        <textarea
          name="body"
          rows={8}
          defaultValue={draft.body}
          placeholder="That of the document"
        />
      </label>
      <div class="bar">
        <button type="submit">Add the rule</button>
        <label>
          <input type="checkbox" name="on" defaultChecked /> Turn the scenario on
        </label>
      </div>
    </Form>
  );
}

function Matches({ of }: { readonly of: ReadonlyMap<string, string> }) {
  return (
    <fieldset class="plain">
      <legend>Only for calls with</legend>
      {[...of].map(([name, value]) => (
        <div key={name} class="bar">
          <label>
            {/* A key is the same for most calls of a client. */}
            <input type="checkbox" name={`match ${name}`} defaultChecked={name !== 'key'} /> {name}
          </label>
          <input
            name={`value ${name}`}
            class="mono"
            aria-label={`Value of ${name}`}
            defaultValue={value}
          />
        </div>
      ))}
    </fieldset>
  );
}
