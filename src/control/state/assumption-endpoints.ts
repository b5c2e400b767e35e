import { ASSUMPTION_IDS, assumptionState, type Choices } from '../../contract/assumption-table.ts';
import { withChoices } from '../../sandbox/state.ts';
import { ASSUME } from '../../scenario/assume-shape.ts';
import { verdictOn } from '../../scenario/checked-shape.ts';
import { list } from '../../shape/shapes.ts';
import { ASSUMPTION, type AssumptionState } from '../control-shapes.ts';
import { type ControlReply, json, type Listed, withBody } from '../endpoint.ts';
import type { ControlParts } from '../parts.ts';

const REPLIES = { 200: { description: 'The assumptions.', shape: list(ASSUMPTION) } };

export const ASSUMPTION_ENDPOINTS: readonly Listed[] = [
  {
    id: 'listAssumptions',
    route: ['get', '/assumptions'],
    summary: 'List assumptions and their options',
    replies: REPLIES,
    handle: ({ sandbox, parts }) => assumptionsReply(sandbox.state.settings.choices, parts),
  },
  withBody({
    id: 'chooseOptions',
    route: ['patch', '/assumptions'],
    summary: 'Choose options of assumptions',
    description: 'Takes an option for each assumption to change. Changes all of them, or none.',
    body: { shape: ASSUME },
    replies: REPLIES,
    handle: ({ sandbox, parts, body }) =>
      sandbox.change((state) => {
        const choices = { ...state.settings.choices, ...body };
        const settings = withChoices(state.settings, choices);
        return { state: { ...state, settings }, result: assumptionsReply(choices, parts) };
      }),
  }),
];

function assumptionsReply(choices: Choices, { checked: all }: ControlParts): ControlReply {
  const states: AssumptionState[] = ASSUMPTION_IDS.map((id) => {
    const checked = verdictOn(id, all);
    return { ...assumptionState(id, choices), ...(checked && { checked }) };
  });
  return json(states);
}
