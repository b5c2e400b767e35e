import { ASSUMPTION_IDS, assumptionState } from '../../contract/assumption-table.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { ASSUME } from '../../scenario/assume-shape.ts';
import { list } from '../../shape/shapes.ts';
import { ASSUMPTION, type AssumptionState } from '../control-shapes.ts';
import { type ControlReply, json, type Listed, withBody } from '../endpoint.ts';

const REPLIES = { 200: { description: 'The assumptions.', shape: list(ASSUMPTION) } };

export const ASSUMPTION_ENDPOINTS: readonly Listed[] = [
  {
    id: 'listAssumptions',
    route: ['get', '/assumptions'],
    summary: 'List assumptions and their options',
    replies: REPLIES,
    handle: ({ sandbox }) => assumptionsReply(sandbox),
  },
  withBody({
    id: 'chooseOptions',
    route: ['patch', '/assumptions'],
    summary: 'Choose options of assumptions',
    description: 'Takes an option for each assumption to change. Changes all of them, or none.',
    body: { shape: ASSUME },
    replies: REPLIES,
    handle: ({ sandbox, body }) =>
      sandbox.change(() => {
        sandbox.assume({ ...sandbox.world.choices, ...body });
        return assumptionsReply(sandbox);
      }),
  }),
];

function assumptionsReply({ world: { choices } }: Sandbox): ControlReply {
  const states: AssumptionState[] = ASSUMPTION_IDS.map((id) => assumptionState(id, choices));
  return json(states);
}
