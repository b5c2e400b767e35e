import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { OPERATIONS, operationShape } from '../../../core/contract/operations.ts';
import { writeJson } from '../../../core/json.ts';
import { isRowName } from '../../../core/tables.ts';
import { Checkbox, Form, FormField, NAME_INPUT, Submit, type Texts } from '../parts/form.tsx';
import { Panel } from '../parts/panel.tsx';
import { attempt, formatError, sayPlace, useDebounced, useResource } from '../state/resource.ts';
import { capitalize, go, plural, route } from '../state/route.ts';
import {
  describeRule,
  findHiddenRules,
  formatRule,
  IS_HELD,
  insertRule,
  listRuleFields,
  loadSchema,
  parseRule,
  REPLIES,
  type RuleField,
  readRules,
  type WrittenRule,
} from '../state/rules.ts';
import { fetchScenario, keepDraft, readDraft, saveScenario } from '../state/scenarios.ts';
import { client, type ScenarioSummary } from '../state/session.ts';

const CHECK_DELAY_MS = 200;

/** What the rule is made of, an exchange or a reply of the coverage, or where the one that is edited stands. */
function readAddress() {
  const { query } = route.value;
  const [from, reply, edited] = ['from', 'of', 'scenario'].map((name) => query.get(name) ?? '');
  return { from, reply, edited, index: edited ? Number(query.get('rule')) : undefined };
}

function leave(): void {
  const { from, reply, edited } = readAddress();
  if (from) go('exchanges', from);
  else if (reply) go('coverage', reply);
  else go('scenarios', edited || undefined);
}

async function loadFields(signal: AbortSignal) {
  const { from = '', reply = '', edited, index = 0 } = readAddress();
  const of = { path: { number: from }, signal };
  const readText = async () => {
    if (edited) return (await readScenario(edited)).text;
    return from ? client.text('GET /requests/{number}/rule', of) : '';
  };
  const [list, schema, text, exchange] = await Promise.all([
    client.call('GET /scenarios', { signal }),
    loadSchema(),
    readText(),
    from ? client.call('GET /requests/{number}', of) : undefined,
  ]);
  const rule = (text === '' ? [draftRule(reply)] : readRules(text))[index];
  if (rule === undefined) throw new Error('There is no such rule.');
  // The number is that of another call after a reset.
  const key = exchange?.at ?? '';
  return { list, fields: listRuleFields(schema), key, before: formatRule(rule) };
}

export function RuleForm() {
  const { from, edited, index } = readAddress();
  const added = from ? `Make a rule of exchange ${from}` : 'Draft a rule';
  const title = index === undefined ? added : `Edit rule ${index + 1} of ${edited}`;
  return (
    <Panel title={title} close="Cancel" onClose={leave} of={useResource('rule', loadFields)}>
      {(loaded) => <Fields key={loaded.key} of={loaded} />}
    </Panel>
  );
}

/** One that gives a reply of the coverage, such as `getPet-404`, to the next call. */
function draftRule(reply: string): WrittenRule {
  const [on = 'listPets', status = '503'] = reply ? reply.split('-') : [];
  const path = isRowName(OPERATIONS, on) ? operationShape(on).path : '';
  const [, parameter] = (reply && /\{(\w+)\}/.exec(path)) || [];
  const where = parameter === undefined ? {} : { where: { [parameter]: 1 } };
  return { on, ...where, calls: 1, reply: { status: Number(status) } };
}

async function readScenario(name: string) {
  return readDraft(name) ?? (await fetchScenario(name));
}

function Fields({ of }: { readonly of: Awaited<ReturnType<typeof loadFields>> }) {
  const { list, fields, before } = of;
  const { edited, index } = readAddress();
  const [texts, setTexts] = useState<Texts>(before);
  const own = list.flatMap((one) => (one.own ? [one.name] : []));
  const target = findTarget(list);
  const scenario = edited || (texts.get('scenario') ?? target);
  const known = list.find(({ name }) => name === scenario);
  const isOn = known?.active !== undefined;
  const how = texts.get('how') ?? '';
  const [status, body] = [before.get('reply.status'), before.get('reply.body')];
  const isOtherStatus = index === undefined && (texts.get('reply.status') ?? status) !== status;
  const isBodyGone = isOtherStatus && body && how === 'reply' && !texts.get('reply.body');
  const { rule, problem } = tryParse(texts);
  const text = rule && writeJson({ rules: [rule] });
  const settled = useDebounced(text, CHECK_DELAY_MS);
  const checked = useResource(
    `${useDebounced(scenario, CHECK_DELAY_MS)} ${settled}`,
    async (signal) => {
      const body = { text: settled ?? '' };
      const { problems } = await client.call('POST /scenario/check', { body, signal });
      const target = known ? await readScenario(scenario) : { text: '', etag: undefined };
      return { of: settled, problem: problems[0]?.message, scenario, target };
    },
  );
  const others = readRules(checked.value?.target?.text ?? '');
  // What is typed since may be right.
  const found = checked.value?.of === text ? checked.value?.problem : undefined;
  const wrong = (problem ?? found)?.replace('$.rules[0]', '$');
  const [, place = '', what = ''] = /^(?:\$\.)?([\w.]+)\S*: (.*)/s.exec(wrong ?? '') ?? [];
  const wrongField = fields.findLast(({ path }) => `${place}.`.startsWith(`${path}.`));
  const all = rule ? others.toSpliced(index ?? 0, index === undefined ? 0 : 1, rule) : [];
  const hidden = findHiddenRules(all).join(' ');
  const rest = all.length - 1;
  const add = (entered: Texts) => {
    const saved = edited ? `Saved in ${scenario}` : `Added to ${scenario}`;
    const done = `${saved}: ${rule && describeRule(rule)} ${hidden}`.trim();
    return attempt(done, async () => {
      const isRead = checked.value?.scenario === scenario && checked.value.target;
      const { text, etag } = isRead || (await readScenario(scenario));
      const changed = insertRule(text || NEW_SCENARIO, parseRule(entered), index);
      await saveScenario(scenario, changed, { turnOn: entered.has('active'), etag });
      keepDraft(scenario, undefined);
    });
  };
  const draw = (field: RuleField) => {
    const { path, name, kind, help, values } = field;
    const value = path === 'reply.body' && isOtherStatus ? '' : before.get(path);
    const label = LABELS[name] ?? capitalize(name);
    if (kind === 'choices') {
      const chosen = value?.split(', ') ?? [];
      return (
        // biome-ignore lint/a11y/useSemanticElements: one in another looks like a box in a box
        <div key={name} role="group" class="bar" aria-label={label}>
          {values.map((one) => (
            <Checkbox
              {...{ key: one, name: path, label: one, value: one, class: 'option' }}
              isOn={chosen.includes(one)}
            />
          ))}
        </div>
      );
    }
    const options = [...new Set(['', ...values, value ?? ''])];
    return (
      <Fragment key={name}>
        {name === 'hold' && (
          <Checkbox name={IS_HELD} label="Hold it back until released" isOn={before.has(IS_HELD)} />
        )}
        {(name !== 'hold' || texts.has(IS_HELD)) && (
          <FormField
            {...{ name: path, label, value, hint: help, placeholder: EXAMPLES[name] }}
            problem={field === wrongField ? `${capitalize(what)}.` : undefined}
            {...(kind === 'choice' && { options, empty: 'none' })}
            {...(kind === 'lines' && { rows: name === 'body' ? 6 : 2 })}
          />
        )}
      </Fragment>
    );
  };
  const drawGroup = (group: RuleField['group']) => {
    const own = fields.filter((field) => field.group === group);
    const ofReply = own.filter(({ path }) => path.startsWith(`${how}.`));
    return (
      <div class="grid">
        {group === 'Then' && (
          <FormField
            name="how"
            label="Reply or patch"
            options={REPLIES}
            value={before.get('how')}
          />
        )}
        {[...ofReply, ...own.filter(({ path }) => !path.includes('.'))].map(draw)}
      </div>
    );
  };
  return (
    <Form
      class="form"
      draft={`rule ${route.value.query} ${of.key}`}
      onSubmit={add}
      onDone={leave}
      onTexts={setTexts}
    >
      {(['When', 'Then', 'How often'] as const).map((group) => (
        <fieldset key={group}>
          <legend>{group}</legend>
          {drawGroup(group)}
          {group === 'Then' && (
            <details open={fields.some((one) => one.group === 'Also' && before.has(one.path))}>
              <summary>More</summary>
              {drawGroup('Also')}
            </details>
          )}
        </fieldset>
      ))}
      {!edited && <FormField {...NAME_INPUT} {...TARGET} value={target} />}
      <datalist id="own">
        {own.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <div class="foot">
        <p role="status">
          {rule && describeRule(rule)}{' '}
          {isBodyGone && `The body was that of ${status}, so it is left out. `}
          <b class="problem">
            {wrong ? `Not yet a rule. ${capitalize(sayPlace(wrong))}.` : hidden}
          </b>
        </p>
        <div class="bar">
          <Submit label={edited ? 'Save the rule' : 'Add the rule'} />
          <span>
            {edited ? 'in' : 'to'} <b>{scenario}</b>, which is {isOn ? 'on' : known ? 'off' : 'new'}
            {rest > 0 && !isOn && ` and has ${plural(rest, 'other rule')}`}
          </span>
          {!isOn && <Checkbox name="active" label="Turn it on" isOn />}
        </div>
      </div>
    </Form>
  );
}

const TARGET = { name: 'scenario', label: 'Add it to the scenario, which may be new', list: 'own' };

const DRAFTED = 'Rules made in the dashboard.';

const NEW_SCENARIO = `description: ${DRAFTED}\n`;

/** A new scenario, or one of rules that were made here and are on: to turn it on would bring back old ones. */
function findTarget(list: readonly ScenarioSummary[], number = 1): string {
  const name = number === 1 ? 'my-rules' : `my-rules-${number}`;
  const found = list.find((one) => one.name === name);
  const isOn = found?.description === DRAFTED && found.active !== undefined;
  return found === undefined || isOn ? name : findTarget(list, number + 1);
}

const LABELS: Readonly<Record<string, string>> = {
  on: 'Operations; none for all',
  where: 'Only for calls with',
  delay: 'Delay in ms',
  hold: 'Name of the hold, if any',
};

const EXAMPLES: Readonly<Record<string, string>> = {
  where: 'petId: 7',
  status: '503',
  headers: 'Retry-After: 5',
  calls: 'all, 1, 1-2, 3- or every 3',
  chance: '0.5',
  delay: '200',
};

function tryParse(texts: Texts): { readonly rule?: WrittenRule; readonly problem?: string } {
  try {
    return { rule: parseRule(texts) };
  } catch (error) {
    return { problem: formatError(error) };
  }
}
