import { useState } from 'preact/hooks';
import { OPERATION_IDS, OPERATIONS, operationShape } from '../../contract/operations.ts';
import { isRowName } from '../../contract/records.ts';
import { FAULT_NAMES } from '../../scenario/fault-table.ts';
import { Field, type FieldProps, Form, NAME_INPUT, type Texts } from '../parts/form.tsx';
import { Panel } from '../parts/panel.tsx';
import { Await } from '../parts/texts.tsx';
import { go, place } from '../state/place.ts';
import { attempt, useResource } from '../state/resource.ts';
import {
  formatRuleFields,
  formatRules,
  insertRules,
  parseRules,
  parseScenario,
  type Rule,
} from '../state/rule-fields.ts';
import {
  dropDraft,
  readDraft,
  readScenario,
  type ScenarioVersion,
  saveScenario,
} from '../state/scenarios.ts';
import { client } from '../state/session.ts';

export function RuleForm() {
  const { query } = place.value;
  const [from, reply, scenario] = ['from', 'of', 'scenario'].map((name) => query.get(name) ?? '');
  const index = scenario ? Number(query.get('rule')) : undefined;
  const loaded = useResource(
    query.toString(),
    async (signal): Promise<Omit<FieldsProps, 'onDone'>> => {
      const list = await client.call('GET /scenarios', { signal });
      const own = list.filter((it) => it.own).map(({ name }) => name);
      const [on = 'listPets', status = '503'] = reply ? reply.split('-') : [];
      const [, parameter] = isRowName(OPERATIONS, on)
        ? (/\{(\w+)\}/.exec(operationShape(on).path) ?? [])
        : [];
      const where = reply && parameter ? { where: { [parameter]: 1 } } : {};
      let rule: Rule | undefined = { on, ...where, calls: 1, reply: { status: Number(status) } };
      if (scenario)
        rule = (await parseScenario((await readCurrent(scenario)).text)).rules[index ?? 0];
      else if (from) {
        const path = { number: from };
        const yaml = await client.text('GET /requests/{number}/rule', { path, signal });
        [rule] = (await parseScenario(yaml)).rules;
      }
      if (rule === undefined) throw new Error('There is no such rule.');
      return {
        own,
        texts: formatRuleFields(rule),
        ...(scenario && { edited: { scenario, index } }),
      };
    },
  );
  const title = scenario
    ? `Edit rule ${Number(index) + 1} of ${scenario}`
    : from
      ? `Make a rule of exchange ${from}`
      : 'ScenarioVersion a rule';
  const leave = () => {
    if (from) go('exchanges', from);
    else if (reply) go('coverage', reply);
    else go('scenarios', scenario || undefined);
  };
  return (
    <Panel title={title} close="Cancel" onClose={leave}>
      <Await of={loaded}>{(props) => <Fields {...props} onDone={leave} />}</Await>
    </Panel>
  );
}

async function readCurrent(name: string): Promise<ScenarioVersion> {
  return readDraft(name) ?? readScenario(name);
}

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
  readonly own: readonly string[];
  readonly texts: Texts;
  readonly edited?: { readonly scenario: string; readonly index: number | undefined };
  readonly onDone: () => void;
}

let latest = '';

function Fields({ own, texts: before, edited, onDone }: FieldsProps) {
  const [texts, setTexts] = useState(before);
  const offered = texts.get('scenario') ?? (own.includes(latest) ? latest : (own[0] ?? ''));
  const scenario = edited?.scenario ?? offered;
  const sentence = formatRules(texts);
  const add = async (entered: Texts) => {
    const name = scenario || (entered.get('name') ?? '');
    const done = edited ? `Saved in ${name}: ${sentence}` : `Added to ${name}: ${sentence}`;
    const isDone = await attempt(done, async () => {
      if (!scenario && own.includes(name)) throw new Error(`You already have a scenario ${name}.`);
      const { text, etag } = scenario
        ? await readCurrent(scenario)
        : { text: 'description: Rules made in the dashboard.\n', etag: undefined };
      const changed = await insertRules(text, parseRules(entered), sentence, edited?.index);
      await saveScenario(name, changed, { turnOn: entered.has('active'), etag });
      dropDraft(name);
    });
    if (!isDone) return false;
    latest = name;
    onDone();
    return true;
  };
  const shown = (field: FieldProps) => (
    <Field key={field.name} value={before.get(field.name)} {...field} />
  );
  return (
    <Form class="form" draft={`rule ${place.value.query}`} onSubmit={add} onTexts={setTexts}>
      <p class="card" role="status">
        {sentence}
      </p>
      {CALLS.map(shown)}
      <div class="bar fields">{EFFECT.map(shown)}</div>
      {REPLY.map(shown)}
      {edited === undefined && (
        <Field
          name="scenario"
          label="Add it to"
          value={scenario}
          options={[...own, '']}
          empty="a new scenario"
        />
      )}
      {scenario === '' && (
        <Field
          name="name"
          label="Name of the new scenario"
          value={own.includes('my-rules') ? '' : 'my-rules'}
          {...NAME_INPUT}
        />
      )}
      <div class="bar">
        <button type="submit">{edited ? 'Save the rule' : 'Add the rule'}</button>
        <label>
          <input type="checkbox" name="active" defaultChecked /> Turn the scenario on
        </label>
      </div>
    </Form>
  );
}
