import {
  ASSUMPTION_IDS,
  type AssumptionId,
  assumptionShape,
  type Choices,
  chooseOptions,
  isAssumptionId,
  isOption,
} from '../../contract/assumption-table.ts';
import { ref } from '../../contract/openapi-schemas.ts';
import { isObject, type Problem, type Reading } from '../../contract/records.ts';
import { describe, listed, suggest } from '../../words.ts';
import { memberPath } from '../checks.ts';
import { type ControlReply, type Endpoint, json, refuseInput } from '../endpoint.ts';

const REPLY = {
  200: {
    description: 'The assumptions.',
    schema: { type: 'array', items: ref('schemas', 'Assumption') },
  },
};

export const ASSUMPTION_ENDPOINTS: readonly Endpoint[] = [
  {
    id: 'listAssumptions',
    method: 'get',
    path: '/assumptions',
    tag: 'Assumptions',
    summary: 'The assumptions and their options',
    replies: REPLY,
    handle: ({ sandbox }) => assumptionsReply(sandbox.world.choices),
  },
  {
    id: 'chooseOptions',
    method: 'patch',
    path: '/assumptions',
    tag: 'Assumptions',
    summary: 'Choose other options',
    description: 'An option for each assumption that changes: all of them are taken, or none.',
    body: { schema: { type: 'object', additionalProperties: { type: 'string' } } },
    replies: REPLY,
    handle: ({ sandbox, body }) => {
      const reading = readChoices(body);
      if (!reading.ok) return refuseInput(reading.problems);
      sandbox.assume({ ...sandbox.world.choices, ...reading.value });
      return assumptionsReply(sandbox.world.choices);
    },
  },
];

function assumptionsReply(choices: Choices): ControlReply {
  const defaults = chooseOptions();
  return json(
    ASSUMPTION_IDS.map((id) => {
      const { topic, question, options } = assumptionShape(id);
      const names = options.map(({ name, meaning }) => ({ name, meaning }));
      return { id, topic, question, options: names, chosen: choices[id], default: defaults[id] };
    }),
  );
}

function readChoices(body: unknown): Reading<Partial<Choices>> {
  if (!isObject(body)) {
    const expected = 'an object of options by assumption';
    return { ok: false, problems: [{ path: '$', expected, found: describe(body) }] };
  }
  const problems: Problem[] = [];
  const chosen: Record<string, string> = {};
  for (const [id, value] of Object.entries(body)) {
    const path = memberPath('$', id);
    // A status among the options reads as a number where it stands without quotes.
    const option = typeof value === 'number' ? String(value) : value;
    if (!isAssumptionId(id)) {
      const found = `${describe(id)}${suggest(id, ASSUMPTION_IDS)}`;
      problems.push({ path, expected: 'an assumption that GET assumptions lists', found });
    } else if (typeof option === 'string' && isOption(id, option)) chosen[id] = option;
    else problems.push(wrongOption(path, id, value));
  }
  if (problems.length > 0 || !areChosen(chosen)) return { ok: false, problems };
  return { ok: true, value: chosen };
}

function wrongOption(path: string, id: AssumptionId, value: unknown): Problem {
  const names = assumptionShape(id).options.map(({ name }) => name);
  const hint = typeof value === 'string' ? suggest(value, names) : '';
  const expected = listed(names, 'or') + (id === 'rate-limit' ? ', or another rate' : '');
  return { path, expected, found: describe(value) + hint };
}

function areChosen(chosen: Readonly<Record<string, string>>): chosen is Partial<Choices> {
  return Object.entries(chosen).every(([id, option]) => isAssumptionId(id) && isOption(id, option));
}
