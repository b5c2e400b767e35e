import { ASSUMPTION_IDS, assumptionState } from '../../contract/assumption-table.ts';
import { ASSUME } from '../../scenario/assume-shape.ts';
import { verdictOn } from '../../scenario/checked-shape.ts';
import { list } from '../../shape/shapes.ts';
import { ASSUMPTION, type AssumptionState } from '../control-shapes.ts';
import { type ControlCall, type ControlReply, json, type Listed, withBody } from '../endpoint.ts';

const REPLIES = { 200: { description: 'The assumptions.', shape: list(ASSUMPTION) } };

export const ASSUMPTION_ENDPOINTS: readonly Listed[] = [
  {
    id: 'listAssumptions',
    route: ['get', '/assumptions'],
    summary: 'List assumptions and their options',
    replies: REPLIES,
    handle: assumptionsReply,
  },
  withBody({
    id: 'chooseOptions',
    route: ['patch', '/assumptions'],
    summary: 'Choose options of assumptions',
    description: 'Takes an option for each assumption to change. Changes all of them, or none.',
    body: { shape: ASSUME },
    replies: REPLIES,
    handle: ({ sandbox, parts, body }) =>
      sandbox.change(() => {
        sandbox.assume({ ...sandbox.world.choices, ...body });
        return assumptionsReply({ sandbox, parts });
      }),
  }),
];

function assumptionsReply({
  sandbox,
  parts,
}: Pick<ControlCall, 'sandbox' | 'parts'>): ControlReply {
  const states: AssumptionState[] = ASSUMPTION_IDS.map((id) => {
    const checked = verdictOn(id, parts.checked);
    return { ...assumptionState(id, sandbox.world.choices), ...(checked && { checked }) };
  });
  return json(states);
}
