import { useState } from 'preact/hooks';
import { OPERATIONS } from '../../contract/operations.ts';
import type { RecordedExchange, ScenarioSummary } from '../../control/control-shapes.ts';
import { FAULT_NAMES } from '../../scenario/fault-table.ts';
import { isNameOf } from '../../tables.ts';
import { Field, type FieldProps, Form, NAME_INPUT, type Texts, textsOf } from '../parts/form.tsx';
import { Panel } from '../parts/panel.tsx';
import { Await } from '../parts/texts.tsx';
import { go, place } from '../state/place.ts';
import { attempt, useLoader } from '../state/resource.ts';
import {
  draftOf,
  namesOf,
  type RuleDraft,
  ruleIn,
  sentenceOf,
  TICK,
  VALUE,
  withRule,
} from '../state/rule-drafts.ts';
import { saveScenario, scenarioText } from '../state/scenarios.ts';
import { call } from '../state/session.ts';

/** Makes a rule of an exchange, or for a reply that was never shown, and adds it to a scenario. */
export function RuleForm() {
  const { query } = place.value;
  const from = query.get('from');
  const reply = query.get('of') ?? '';
  const [operation = '', status = ''] = reply.split('-');
  const loaded = useLoader(query.toString(), async (signal) => {
    const list = await call<readonly ScenarioSummary[]>('GET', '/scenarios', { signal });
    const own = list.filter((it) => it.own).map(({ name }) => name);
    if (isNameOf(OPERATIONS, operation)) {
      return { own, draft: { operation, texts: new Map(Object.entries({ status, calls: '1' })) } };
    }
    const exchange = await call<RecordedExchange>('GET', `/requests/${from}`, { signal });
    if (exchange.operation === undefined) throw new Error('No rule matches this exchange.');
    return { own, draft: draftOf(exchange, exchange.operation) };
  });
  const title = from ? `Make a rule of exchange ${from}` : 'Draft a rule';
  const leave = () => (from ? go('exchanges', from) : go('coverage', reply));
  return (
    <Panel title={title} close="Cancel" onClose={leave}>
      <Await of={loaded}>{(it) => <Fields {...it} onDone={leave} />}</Await>
    </Panel>
  );
}

/** What the rule does. */
const EFFECT: readonly FieldProps[] = [
  { name: 'status', label: 'Status', pattern: '[2-5]\\d\\d', size: 4 },
  { name: 'fault', label: 'Fault instead', options: ['', ...FAULT_NAMES], empty: 'none' },
  { name: 'delay', label: 'Delay in ms', pattern: '\\d*', size: 6 },
  { name: 'calls', label: 'Calls', placeholder: 'all', title: '1, 1-2, 3- or 2,4', size: 6 },
];
const REPLY: readonly FieldProps[] = [
  { name: 'headers', label: 'Headers, one a line', rows: 2 },
  { name: 'body', label: 'Body', rows: 8, placeholder: 'That of the document' },
];

interface FieldsProps {
  /** The names of the scenarios that it can be added to. */
  readonly own: readonly string[];
  readonly draft: RuleDraft;
  readonly onDone: () => void;
}

/** Offered first for the next rule. */
let latest = '';

function Fields({ own, draft, onDone }: FieldsProps) {
  const [texts, setTexts] = useState(draft.texts);
  const scenario = texts.get('scenario') ?? (own.includes(latest) ? latest : (own[0] ?? ''));
  const sentence = sentenceOf({ ...draft, texts });
  const add = async (entered: Texts) => {
    const name = scenario || (entered.get('name') ?? '');
    const isDone = await attempt(`Added to ${name}: ${sentence}`, async () => {
      if (!scenario && own.includes(name)) throw new Error(`You already have a scenario ${name}.`);
      const before = scenario
        ? await scenarioText(name)
        : 'description: Rules made in the dashboard.\n';
      const text = await withRule(before, ruleIn({ ...draft, texts: entered }), sentence);
      await saveScenario(name, text, entered.has('on'));
    });
    if (!isDone) return;
    latest = name;
    onDone();
  };
  const shown = (field: FieldProps) => (
    <Field key={field.name} value={draft.texts.get(field.name)} {...field} />
  );
  const conditions = namesOf(draft.texts, VALUE);
  return (
    <Form
      class="form"
      onSubmit={add}
      onInput={({ currentTarget }) => setTexts(textsOf(currentTarget))}
    >
      <p class="card" role="status">
        {sentence}
      </p>
      <Field
        name="scenario"
        label="Add it to"
        value={scenario}
        options={[...own, '']}
        empty="a new scenario"
      />
      {scenario === '' && (
        <Field
          name="name"
          label="Name of the new scenario"
          value={own.includes('my-rules') ? '' : 'my-rules'}
          {...NAME_INPUT}
        />
      )}
      {conditions.length > 0 && (
        <section aria-label="Conditions">
          Only for calls with
          {conditions.map((name) => (
            <div key={name} class="bar">
              <label>
                <input
                  type="checkbox"
                  name={TICK + name}
                  defaultChecked={draft.texts.has(TICK + name)}
                />{' '}
                {name}
              </label>
              <input
                name={VALUE + name}
                class="mono"
                aria-label={`Value of ${name}`}
                defaultValue={draft.texts.get(VALUE + name)}
              />
            </div>
          ))}
        </section>
      )}
      <div class="bar fields">{EFFECT.map(shown)}</div>
      {REPLY.map(shown)}
      <div class="bar">
        <button type="submit">Add the rule</button>
        <label>
          <input type="checkbox" name="on" defaultChecked /> Turn the scenario on
        </label>
      </div>
    </Form>
  );
}
