import { useState } from 'preact/hooks';
import { OPERATION_IDS } from '../../contract/operations.ts';
import type { ScenarioSummary } from '../../control/control-shapes.ts';
import { FAULT_NAMES } from '../../scenario/fault-table.ts';
import { Field, type FieldProps, Form, NAME_INPUT, type Texts, textsOf } from '../parts/form.tsx';
import { Panel } from '../parts/panel.tsx';
import { Await } from '../parts/texts.tsx';
import { go, place } from '../state/place.ts';
import { attempt, useLoader } from '../state/resource.ts';
import {
  firstRule,
  type Rule,
  rulesIn,
  sentenceOf,
  textsOfRule,
  withRules,
} from '../state/rule-fields.ts';
import { readScenario, saveScenario } from '../state/scenarios.ts';
import { call, open } from '../state/session.ts';

/** Makes a rule of an exchange, for a reply that was never shown, or of nothing. */
export function RuleForm() {
  const { query } = place.value;
  const from = query.get('from');
  const reply = query.get('of') ?? '';
  const loaded = useLoader(query.toString(), async (signal) => {
    const list = await call<readonly ScenarioSummary[]>('GET', '/scenarios', { signal });
    const own = list.filter((it) => it.own).map(({ name }) => name);
    const [on = '', status = 503] = reply === '' ? ['listPets'] : reply.split('-');
    const drafted: Rule = { on, calls: 1, reply: { status: Number(status) } };
    if (from === null) return { own, rule: drafted };
    const yaml = await open('GET', `/requests/${from}/rule`, { signal });
    return { own, rule: await firstRule(await yaml.text()) };
  });
  const title = from ? `Make a rule of exchange ${from}` : 'Draft a rule';
  const leave = () => {
    if (from !== null) go('exchanges', from);
    else if (reply !== '') go('coverage', reply);
    else go('scenarios');
  };
  return (
    <Panel title={title} close="Cancel" onClose={leave}>
      <Await of={loaded}>
        {({ own, rule }) => <Fields own={own} texts={textsOfRule(rule)} onDone={leave} />}
      </Await>
    </Panel>
  );
}

/** Which calls the rule is for. */
const CALLS: readonly FieldProps[] = [
  { name: 'on', label: 'Operation', options: [...OPERATION_IDS, '*'] },
  {
    name: 'where',
    label: 'Only for calls with these parameters, body fields, key or “header NAME”, one a line',
    rows: 3,
    placeholder: 'petId: 7\nheader x-tenant: acme',
  },
];

const STATUSES = '[2-5]\\d\\d([ ,]+[2-5]\\d\\d)*';

/** What the rule does. */
const EFFECT: readonly FieldProps[] = [
  {
    name: 'status',
    label: 'Status, or several in turn',
    pattern: STATUSES,
    title: 'A status such as 409, or several in turn: 409, 503',
    size: 10,
  },
  { name: 'fault', label: 'Fault instead', options: ['', ...FAULT_NAMES], empty: 'none' },
  { name: 'delay', label: 'Delay in ms', pattern: '\\d*', title: 'Such as 200', size: 6 },
  {
    name: 'calls',
    label: 'Calls',
    placeholder: 'all',
    pattern: '[0-9, \\-]*',
    title: '1, 1-2, 3- or 2,4',
    size: 6,
  },
  {
    name: 'chance',
    label: 'Chance',
    placeholder: '1',
    pattern: '1|0?\\.\\d+',
    title: 'Above 0, up to 1, such as 0.1',
    size: 4,
  },
  {
    name: 'hold',
    label: 'Hold under a name',
    placeholder: 'no',
    title: 'The reply waits until you release it',
    size: 8,
  },
];

const REPLY: readonly FieldProps[] = [
  { name: 'headers', label: 'Headers, one a line', rows: 2 },
  { name: 'body', label: 'Body', rows: 8, placeholder: 'That of the document' },
];

interface FieldsProps {
  /** The names of the scenarios that it can be added to. */
  readonly own: readonly string[];
  readonly texts: Texts;
  readonly onDone: () => void;
}

/** Offered first for the next rule. */
let latest = '';

function Fields({ own, texts: before, onDone }: FieldsProps) {
  const [texts, setTexts] = useState(before);
  const scenario = texts.get('scenario') ?? (own.includes(latest) ? latest : (own[0] ?? ''));
  const sentence = sentenceOf(texts);
  const add = async (entered: Texts) => {
    const name = scenario || (entered.get('name') ?? '');
    const isDone = await attempt(`Added to ${name}: ${sentence}`, async () => {
      if (!scenario && own.includes(name)) throw new Error(`You already have a scenario ${name}.`);
      const { text, etag } = scenario
        ? await readScenario(name)
        : { text: 'description: Rules made in the dashboard.\n', etag: undefined };
      const added = await withRules(text, rulesIn(entered), sentence);
      await saveScenario(name, added, { turnOn: entered.has('active'), etag });
    });
    if (!isDone) return;
    latest = name;
    onDone();
  };
  const shown = (field: FieldProps) => (
    <Field key={field.name} value={before.get(field.name)} {...field} />
  );
  return (
    <Form
      class="form"
      onSubmit={add}
      onInput={({ currentTarget }) => setTexts(textsOf(currentTarget))}
    >
      <p class="card" role="status">
        {sentence}
      </p>
      {CALLS.map(shown)}
      <div class="bar fields">{EFFECT.map(shown)}</div>
      {REPLY.map(shown)}
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
      <div class="bar">
        <button type="submit">Add the rule</button>
        <label>
          <input type="checkbox" name="active" defaultChecked /> Turn the scenario on
        </label>
      </div>
    </Form>
  );
}
