import { ASSUMPTION_IDS, assumptionState } from '../../contract/assumption-table.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { ASSUME } from '../../scenario/assume-shape.ts';
import { list } from '../../shape/shapes.ts';
import { ASSUMPTION, type AssumptionState } from '../control-shapes.ts';
import { type ControlReply, type Endpoint, json, withBody } from '../endpoint.ts';

const REPLIES = { 200: { description: 'The assumptions.', shape: list(ASSUMPTION) } };

export const ASSUMPTION_ENDPOINTS: readonly Endpoint[] = [
  {
    id: 'listAssumptions',
    method: 'get',
    path: '/assumptions',
    tag: 'Assumptions',
    summary: 'List assumptions and their options',
    replies: REPLIES,
    handle: ({ sandbox }) => assumptionsReply(sandbox),
  },
  withBody({
    id: 'chooseOptions',
    method: 'patch',
    path: '/assumptions',
    tag: 'Assumptions',
    summary: 'Choose options of assumptions',
    description: 'Takes an option for each assumption to change. Changes all of them, or none.',
    body: { shape: ASSUME },
    replies: REPLIES,
    handle: ({ sandbox, body }) => {
      sandbox.assume({ ...sandbox.world.choices, ...body });
      return assumptionsReply(sandbox);
    },
  }),
];

function assumptionsReply({ world: { choices } }: Sandbox): ControlReply {
  const states: AssumptionState[] = ASSUMPTION_IDS.map((id) => assumptionState(id, choices));
  return json(states);
}
