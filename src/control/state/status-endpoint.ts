import { ASSUMPTION_IDS, optionNames } from '../../contract/assumption-table.ts';
import { type SandboxStatus, STATUS } from '../control-shapes.ts';
import { json, type Listed } from '../endpoint.ts';
import { clockView } from './clock-endpoints.ts';

/** What a person wants to know first: what in this sandbox is not as it was at the start. */
export const STATUS_ENDPOINTS: readonly Listed[] = [
  {
    id: 'getStatus',
    route: ['get', '/status'],
    summary: 'Read what differs from a fresh mock',
    description: 'The active scenarios, the changed assumptions, the clock and the upstream.',
    replies: { 200: { description: 'The status.', shape: STATUS } },
    handle: ({ sandbox: { name, state, evidence } }) => {
      const { start, choices, upstream } = state.settings;
      const changed = ASSUMPTION_IDS.filter((id) => choices[id] !== optionNames(id)[0]);
      return json<SandboxStatus>({
        sandbox: name,
        scenarios: start.scenarios.map((it) => it.name),
        assumptions: changed.map((id) => `${id}=${choices[id]}`),
        clock: clockView(state.clock),
        upstream: upstream?.url,
        latestExchange: evidence.journal.number,
      });
    },
  },
];
