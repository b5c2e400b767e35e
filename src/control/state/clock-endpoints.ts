import type { EditResult } from '../../sandbox/sandbox.ts';
import type { State } from '../../sandbox/state.ts';
import { INSTANT, SHIFT } from '../../scenario/time-shapes.ts';
import {
  advancedClock,
  type ClockState,
  isReal,
  REAL_CLOCK,
  setClock,
  timeOf,
} from '../../service/clock.ts';
import { object, optional, required } from '../../shape/objects.ts';
import { convert, FLAG, named } from '../../shape/shapes.ts';
import { CLOCK, type ClockState as ClockView } from '../control-shapes.ts';
import { type ControlReply, json, type Listed, refuseInput, withBody } from '../endpoint.ts';

const CLOCK_SETTING = named(
  'ClockSetting',
  convert(
    object(
      {
        now: optional(INSTANT, 'The time to set.'),
        frozen: optional(FLAG, 'Whether time stops.'),
        real: optional(FLAG, 'True returns to the system time.'),
      },
      { some: true },
    ),
    (setting, at, tell) => {
      if (setting.real !== true || setting.frozen !== true) return setting;
      tell({ at, expected: 'a clock that is real or frozen', found: 'both' });
      return undefined;
    },
    {
      not: {
        required: ['frozen', 'real'],
        properties: { frozen: { const: true }, real: { const: true } },
      },
    },
  ),
);

const MOVE = object({ by: required(SHIFT, 'A duration. A negative one moves the clock back.') });

const REPLIES = { 200: { description: 'The clock.', shape: CLOCK } };

export const CLOCK_ENDPOINTS: readonly Listed[] = [
  {
    id: 'getClock',
    route: ['get', '/clock'],
    summary: 'Read the clock',
    replies: REPLIES,
    handle: ({ sandbox }) => clockReply(sandbox.state.clock),
  },
  withBody({
    id: 'setClock',
    route: ['put', '/clock'],
    summary: 'Set, freeze or unfreeze the clock',
    description:
      'Members that the body leaves out keep their values. `{"real": true}` returns to the system time.',
    body: { shape: CLOCK_SETTING },
    replies: REPLIES,
    handle: ({ sandbox, body: { now, frozen, real } }) =>
      sandbox.change((state, { wall }) => {
        const clock = real === true ? REAL_CLOCK : setClock(state.clock, { now, frozen }, wall);
        return { state: { ...state, clock }, result: clockReply(clock) };
      }),
  }),
  withBody({
    id: 'advanceClock',
    route: ['post', '/clock/advance'],
    summary: 'Move the clock forward or back',
    description: 'Takes an ISO 8601 duration such as `P30D`; `-P30D` moves the clock back.',
    body: { shape: MOVE },
    replies: REPLIES,
    handle: ({ sandbox, body: { by } }) =>
      sandbox.change((state, { wall }) => advanced(state, by, wall)),
  }),
];

function advanced(state: State, by: number, wall: number): EditResult<ControlReply> {
  const clock = advancedClock(state.clock, by, wall);
  if (clock !== undefined) return { state: { ...state, clock }, result: clockReply(clock) };
  const expected = 'a duration that leads to a time from 1970 to 9999';
  const found = 'one that leads out of that range';
  return { state, result: refuseInput([{ path: '$.by', expected, found }]) };
}

function clockReply(clock: ClockState): ControlReply {
  return json(clockView(clock));
}

export function clockView(clock: ClockState): ClockView {
  const now = new Date(timeOf(clock)).toISOString();
  return { now, frozen: clock.frozenAt !== undefined, real: isReal(clock) };
}
