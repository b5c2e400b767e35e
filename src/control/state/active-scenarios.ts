import { COUNT, OPERATION } from '../../sandbox/report-shapes.ts';
import type { State } from '../../sandbox/state.ts';
import { countCalls } from '../../scenario/rules.ts';
import { namedObject, optional, required } from '../../shape/objects.ts';
import { ANY_TEXT, type InputOf, list } from '../../shape/shapes.ts';

export const SCENARIO_MEMBERS = {
  name: required(ANY_TEXT, 'Its name.'),
  description: required(ANY_TEXT, 'What a client sees under it.'),
};

const ACTIVE_RULE = namedObject('ActiveRule', {
  number: required(COUNT, 'Its place in its scenario, counted from 1.'),
  on: required(list(OPERATION), 'The operations that it is for.'),
  status: optional(COUNT, 'The status of its reply, if it has one.'),
  fault: optional(ANY_TEXT, 'The name of its fault, if it has one.'),
  hold: optional(ANY_TEXT, 'The name of its hold, if it holds replies back.'),
  calls: optional(COUNT, 'How many calls it has matched, if it counts them.'),
});

const ACTIVE_SCENARIO = namedObject('ActiveScenario', {
  ...SCENARIO_MEMBERS,
  rules: required(list(ACTIVE_RULE), 'Its rules.'),
});

export const ACTIVE_SCENARIOS = namedObject('ActiveScenarios', {
  scenarios: required(list(ACTIVE_SCENARIO), 'A later one wins over an earlier one.'),
});

export function showActive({
  settings: { active },
  counters,
}: State): InputOf<typeof ACTIVE_SCENARIOS> {
  const scenarios = active.map(({ name, description, rules }) => ({
    name,
    description,
    rules: rules.map((rule) => ({
      number: rule.number,
      on: rule.on,
      status: rule.reply?.status,
      fault: rule.fault?.kind,
      hold: rule.hold,
      calls: countCalls(counters.rules, rule),
    })),
  }));
  return { scenarios };
}
