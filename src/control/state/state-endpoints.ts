import { COLLECTIONS } from '../../contract/records.ts';
import type { EditResult, Sandbox } from '../../sandbox/sandbox.ts';
import {
  KEEPABLE,
  NO_SCENARIOS,
  type ResetPart,
  restarted,
  type State,
} from '../../sandbox/state.ts';
import { CHANGES } from '../../scenario/state-shape.ts';
import { object, optional } from '../../shape/objects.ts';
import { choice, list, named } from '../../shape/shapes.ts';
import { readStore, STORE } from '../../store/fixture/read-store.ts';
import { merge } from '../../store/merge.ts';
import { arrayText } from '../../store/record-text.ts';
import type { Store } from '../../store/store.ts';
import { type ControlReply, DONE, type Listed, refuseInput, withBody } from '../endpoint.ts';

/** What a reset keeps unless it says otherwise: what somebody wrote by hand. */
const KEPT: readonly ResetPart[] = ['own-scenarios'];

const RESET = object({
  keep: optional(
    list(choice(KEEPABLE)),
    `What the reset does not change; \`${JSON.stringify(KEPT)}\` by default.`,
  ),
});

const STATE = named('State', STORE);

const STATE_CHANGES = named('StateChanges', CHANGES);

export const STATE_ENDPOINTS: readonly Listed[] = [
  {
    id: 'getState',
    route: ['get', '/state'],
    summary: 'Read the whole store as a fixture',
    replies: { 200: { description: 'The store.', shape: STATE } },
    handle: ({ sandbox }) => stateReply(sandbox.state.store),
  },
  {
    id: 'replaceState',
    route: ['put', '/state'],
    summary: 'Replace the whole store',
    description:
      'Validated like a fixture. A collection that the body leaves out becomes empty. The body has at most 1 MiB.',
    body: {
      shape: STATE,
      instead: 'start with --fixture or --db, or send PATCH requests with a part each',
    },
    replies: { 200: { description: 'The new store.', shape: STATE } },
    handle: ({ sandbox, body }) => {
      const reading = readStore(body);
      if (!reading.ok) return refuseInput(reading.problems);
      const { value: store } = reading;
      return sandbox.change((state) => ({ state: { ...state, store }, result: stateReply(store) }));
    },
  },
  withBody({
    id: 'mergeState',
    route: ['patch', '/state'],
    summary: 'Merge records into the store by id',
    description:
      'Fields that a record leaves out keep their values; a new record must be complete. Instead of an array, a collection can have `remove`, `each` and `set` as in a scenario. Makes all changes, or none.',
    body: { shape: STATE_CHANGES },
    replies: { 200: { description: 'The new store.', shape: STATE } },
    handle: ({ sandbox, body }) =>
      sandbox.change((state) => {
        const merged = merge(state.store, body);
        if (!merged.ok) return { state, result: refuseInput(merged.problems) };
        const { value: store } = merged;
        return { state: { ...state, store }, result: stateReply(store) };
      }),
  }),
  withBody({
    id: 'reset',
    route: ['post', '/reset'],
    summary: 'Reset the sandbox to its start',
    description:
      "Resets the store, the active scenarios and the call counts of their rules, the assumptions, the clock, the journal, coverage and findings, except for what `keep` names; `journal` includes coverage and findings. The sandbox's own scenarios stay unless a `keep` leaves out `own-scenarios`. Snapshots always stay.",
    body: { shape: RESET, optional: true },
    replies: { 204: { description: 'Reset.' } },
    handle: ({ sandbox, body }) =>
      sandbox.change((state, { wall }) =>
        resetOf(sandbox, state, new Set(body.keep ?? KEPT), wall),
      ),
  }),
];

function resetOf(
  { origin, initialUpstream: upstream }: Sandbox,
  before: State,
  keep: ReadonlySet<ResetPart>,
  wall: number,
): EditResult<ControlReply> {
  const start = keep.has('scenario') ? before.settings.start : origin;
  const state = restarted(before, start, wall, keep);
  const scenarios = keep.has('own-scenarios') ? state.scenarios : NO_SCENARIOS;
  const settings = { ...state.settings, upstream };
  const clears = keep.has('journal') ? undefined : 'all';
  return { state: { ...state, settings, scenarios }, result: DONE, clears };
}

function stateReply(store: Store): ControlReply {
  return { status: 200, body: { kind: 'pieces', pieces: stateText(store) } };
}

/** Written as the client reads: a long text holds no other client up. */
function* stateText(store: Store): Generator<string> {
  let open = '{';
  for (const name of COLLECTIONS) {
    yield `${open}"${name}":`;
    open = ',';
    yield* arrayText(store[name].ascending());
  }
  yield '}';
}
