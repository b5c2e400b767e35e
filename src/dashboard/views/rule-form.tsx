import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { isOperationId } from '../../contract/operations.ts';
import type { RecordedExchange, ScenarioSummary } from '../../control/control-shapes.ts';
import { FAULT_NAMES } from '../../scenario/fault-table.ts';
import { call } from '../client/control-calls.ts';
import { Choice, Field } from '../parts/field.tsx';
import { Form, textsOf } from '../parts/form.tsx';
import { Loaded } from '../parts/loading.tsx';
import { NAME_INPUT } from '../parts/name-form.tsx';
import { Panel } from '../parts/panel.tsx';
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
  const title = from ? `Make a rule of exchange ${from}` : 'Draft a rule';
  const leave = () => (from ? go('exchanges', from) : go('coverage', `${operation}-${status}`));
  return (
    <Panel title={title} close="Cancel" onClose={leave}>
      <Loaded of={loaded}>{(it) => <Fields {...it} isForOne={!from} onDone={leave} />}</Loaded>
    </Panel>
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
      <Choice
        name="scenario"
        label="Add it to"
        value={scenario.value}
        options={[...own, '']}
        empty="a new scenario"
        onChange={(value) => {
          scenario.value = value;
        }}
      />
      {scenario.value === '' && (
        <Field
          name="name"
          label="Name of the new scenario"
          value={own.includes('my-rules') ? '' : 'my-rules'}
          {...NAME_INPUT}
        />
      )}
      {draft.matches.size > 0 && <Matches of={draft.matches} />}
      <div class="bar fields">
        <Field name="status" label="Status" value={draft.status} pattern="[2-5]\d\d" size={4} />
        <Choice
          name="fault"
          label="Fault instead"
          value={draft.fault}
          options={['', ...FAULT_NAMES]}
          empty="none"
        />
        <Field name="delay" label="Delay in ms" value="" pattern="\d*" size={6} />
        <Field
          name="calls"
          label="Calls"
          value={isForOne ? '1' : ''}
          placeholder="all"
          title="1, 1-2, 3- or 2,4"
          size={6}
        />
      </div>
      <Field name="headers" label="Headers, one a line" rows={2} value={draft.headers} />
      <Field
        name="body"
        label="Body"
        rows={8}
        value={draft.body}
        placeholder="That of the document"
      />
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
