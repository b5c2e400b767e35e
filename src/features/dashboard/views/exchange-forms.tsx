import { useState } from 'preact/hooks';
import { OPERATION_IDS, OPERATIONS, operationShape } from '../../../core/contract/operations.ts';
import { FAULT_NAMES } from '../../../core/scenario/fault-table.ts';
import { isRowName } from '../../../core/words.ts';
import {
  Chips,
  type FieldProps,
  Form,
  FormField,
  LINES,
  NAME_INPUT,
  type Texts,
} from '../parts/form.tsx';
import { Panel } from '../parts/panel.tsx';
import { copyRequest, FIRST_REQUEST, parseHeaderLines, sendAndOpen } from '../state/requests.ts';
import { attempt, useResource } from '../state/resource.ts';
import { go, route } from '../state/route.ts';
import {
  findHiddenRules,
  formatRuleFields,
  formatRules,
  groupRules,
  insertRules,
  PATCHED,
  parseRules,
  type RuleGroup,
  readRules,
} from '../state/rule-fields.ts';
import { dropDraft, fetchScenario, readDraft, saveScenario } from '../state/scenarios.ts';
import { client } from '../state/session.ts';

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'];

const PATH = {
  name: 'target',
  label: 'Path',
  pattern: '/.*',
  title: 'A path begins with a slash.',
  required: true,
};

export function RequestForm() {
  const from = Number(route.value.query.get('from'));
  const loaded = useResource(`${from}`, async (signal) => {
    if (!(from > 0)) return FIRST_REQUEST;
    const path = { number: from };
    return copyRequest(await client.call('GET /requests/{number}', { path, signal }));
  });
  const title = from > 0 ? `Edit and send exchange ${from}` : 'New request';
  const leave = () => go('exchanges', from > 0 ? from : undefined);
  const send = (texts: Texts) => {
    const { method = '', target = '', key = '', headers = '', body } = Object.fromEntries(texts);
    const request = { method, target, key: key.trim(), headers: parseHeaderLines(headers) };
    return sendAndOpen({ ...request, body: body || undefined }, from || undefined);
  };
  return (
    <Panel title={title} close="Cancel" onClose={leave} of={loaded}>
      {({ method, target, key, headers, body }) => (
        <Form class="form" draft={`request ${from}`} onSubmit={send}>
          <FormField name="method" label="Method" value={method} options={METHODS} />
          <FormField {...PATH} value={target} />
          <FormField name="key" label="API key" value={key} />
          <FormField
            {...LINES}
            name="headers"
            label="Other headers, one a line"
            value={headers.map((header) => header.join(': ')).join('\n')}
          />
          <FormField name="body" label="Body" rows={8} value={body} />
          <button type="submit">Send</button>
        </Form>
      )}
    </Panel>
  );
}

export function RuleForm() {
  const { query } = route.value;
  const [from, reply, scenario] = ['from', 'of', 'scenario'].map((name) => query.get(name) ?? '');
  const loaded = useResource('rule', async (signal): Promise<Omit<FieldsProps, 'onDone'>> => {
    const list = await client.call('GET /scenarios', { signal });
    const own = list.flatMap((one) => (one.own ? [one.name] : []));
    if (scenario) {
      const rules = await readRules(await readText(scenario));
      const group = groupRules(rules).find(({ index }) => index === Number(query.get('rule')));
      if (group === undefined) throw new Error('There is no such rule.');
      return { own, texts: group.texts, edited: { scenario, group } };
    }
    if (from) {
      const input = { path: { number: from }, signal };
      const yaml = await client.text('GET /requests/{number}/rule', input);
      const [rule] = await readRules(yaml);
      if (rule !== undefined) return { own, texts: formatRuleFields(rule) };
    }
    const [on = 'listPets', status = '503'] = reply ? reply.split('-') : [];
    const path = isRowName(OPERATIONS, on) ? operationShape(on).path : '';
    const [, parameter] = (reply && /\{(\w+)\}/.exec(path)) || [];
    const where = parameter === undefined ? {} : { where: { [parameter]: 1 } };
    const rule = { on, ...where, calls: 1, reply: { status: Number(status) } };
    return { own, texts: formatRuleFields(rule) };
  });
  const title = scenario
    ? `Edit rule ${Number(query.get('rule')) + 1} of ${scenario}`
    : from
      ? `Make a rule of exchange ${from}`
      : 'Draft a rule';
  const leave = () => {
    if (from) go('exchanges', from);
    else if (reply) go('coverage', reply);
    else go('scenarios', scenario || undefined);
  };
  return (
    <Panel title={title} close="Cancel" onClose={leave} of={loaded}>
      {(props) => <RuleFields {...props} onDone={leave} />}
    </Panel>
  );
}

async function readText(scenario: string): Promise<string> {
  return (readDraft(scenario) ?? (await fetchScenario(scenario))).text;
}

const WHERE: FieldProps = {
  ...LINES,
  name: 'where',
  label: 'Only for calls with these parameters, body fields, key or “header NAME”, one a line',
  placeholder: 'petId: 7\nheader x-tenant: acme',
  'data-line': '^\\s*((header\\s+)?[^:\\s]+\\s*:.*)?$',
};

const STATUSES = '[2-5]\\d\\d([ ,]+[2-5]\\d\\d)*';

const THEN: readonly FieldProps[] = [
  {
    name: 'status',
    label: 'Status, or several in turn',
    placeholder: '409, 503',
    pattern: STATUSES,
  },
  {
    name: 'how',
    label: 'How to reply',
    options: ['', PATCHED],
    empty: 'with these fields alone',
  },
  { name: 'fault', label: 'Fault instead', options: ['', ...FAULT_NAMES], empty: 'none' },
  { name: 'delay', label: 'Delay in ms', placeholder: 'such as 200', pattern: '\\d*' },
  { name: 'hold', label: 'Hold under a name', placeholder: 'until you release it' },
];

const REPLY: readonly FieldProps[] = [
  { ...LINES, name: 'headers', label: 'Headers, one a line' },
  { name: 'body', label: 'Body', rows: 6, placeholder: 'That of the document' },
];

const HOW_OFTEN: readonly FieldProps[] = [
  { name: 'calls', label: 'Calls', placeholder: 'all, 1, 1-2 or 3-', pattern: '[0-9, \\-]*' },
  { name: 'chance', label: 'Chance', placeholder: 'from 0 to 1', pattern: '1|0?\\.\\d+' },
];

const TARGET = { name: 'scenario', label: 'Add it to', empty: 'a new scenario' };

interface FieldsProps {
  readonly own: readonly string[];
  readonly texts: Texts;
  readonly edited?: { readonly scenario: string; readonly group: RuleGroup };
  readonly onDone: () => void;
}

let latest = '';

function RuleFields({ own, texts: before, edited, onDone }: FieldsProps) {
  const [texts, setTexts] = useState<Texts>(new Map([...before, ['active', 'on']]));
  const [invalid, setInvalid] = useState<string | undefined>(undefined);
  const offered = texts.get('scenario') ?? (own.includes(latest) ? latest : (own[0] ?? ''));
  const scenario = edited?.scenario ?? offered;
  const others = useResource(`rules of ${scenario}`, async () =>
    scenario === '' ? [] : readRules(await readText(scenario)),
  );
  const { index = 0, count = 0 } = edited?.group ?? {};
  const rules = (others.value ?? []).toSpliced(index, count, ...parseRules(texts));
  const hidden = findHiddenRules(rules);
  const sentence = formatRules(texts);
  const add = async (entered: Texts) => {
    const name = scenario || (entered.get('name') ?? '');
    const saved = edited ? `Saved in ${name}` : `Added to ${name}`;
    const done = [`${saved}: ${sentence}`, ...hidden].join(' ');
    const isDone = await attempt(done, async () => {
      if (!scenario && own.includes(name)) throw new Error(`You already have a scenario ${name}.`);
      const { text, etag } = scenario
        ? (readDraft(scenario) ?? (await fetchScenario(scenario)))
        : { text: 'description: Rules made in the dashboard.\n', etag: undefined };
      const changed = await insertRules(text, parseRules(entered), edited?.group);
      await saveScenario(name, changed, { turnOn: entered.has('active'), etag });
      dropDraft(name);
    });
    if (!isDone) return false;
    latest = name;
    onDone();
    return true;
  };
  const shown = (field: FieldProps) => (
    <FormField key={field.name} value={before.get(field.name)} {...field} />
  );
  return (
    <Form
      class="form"
      draft={`rule ${route.value.query}`}
      onSubmit={add}
      onTexts={(typed, wrong) => {
        setTexts(typed);
        setInvalid(wrong);
      }}
    >
      <fieldset>
        <legend>When</legend>
        <Chips
          name="on"
          label="Operations; none for all"
          values={OPERATION_IDS}
          value={before.get('on')}
        />
        {shown(WHERE)}
      </fieldset>
      <fieldset>
        <legend>Then</legend>
        <div class="bar">{THEN.map(shown)}</div>
        {REPLY.map(shown)}
      </fieldset>
      <fieldset>
        <legend>How often</legend>
        <div class="bar">{HOW_OFTEN.map(shown)}</div>
      </fieldset>
      <div class="bar">
        {edited === undefined && <FormField {...TARGET} value={scenario} options={[...own, '']} />}
        {scenario === '' && (
          <FormField
            {...NAME_INPUT}
            label="Name of the new scenario"
            value={own[0] ? '' : 'my-rules'}
          />
        )}
      </div>
      <div class="foot">
        <p role="status">
          {invalid === undefined ? (
            sentence
          ) : (
            <span class="problem">Not yet a rule. {invalid}.</span>
          )}{' '}
          <b class="problem">{hidden.join(' ')}</b>
        </p>
        <div class="bar">
          <button type="submit">{edited ? 'Save the rule' : 'Add the rule'}</button>
          <label>
            <input type="checkbox" name="active" checked={texts.has('active')} /> Turn the scenario
            on
          </label>
        </div>
      </div>
    </Form>
  );
}
