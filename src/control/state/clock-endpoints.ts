import { INSTANT, SHIFT } from '../../scenario/time-shapes.ts';
import type { MovableClock } from '../../service/clock.ts';
import { object, optional, required } from '../../shape/objects.ts';
import { convert, FLAG, named } from '../../shape/shapes.ts';
import { CLOCK, type ClockState } from '../control-shapes.ts';
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
    handle: ({ sandbox }) => clockReply(sandbox.clock),
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
      sandbox.change(() => {
        const { clock } = sandbox;
        if (real === true) clock.reset({});
        else clock.set({ now, frozen });
        return clockReply(clock);
      }),
  }),
  withBody({
    id: 'advanceClock',
    route: ['post', '/clock/advance'],
    summary: 'Move the clock forward or back',
    description: 'Takes an ISO 8601 duration such as `P30D`; `-P30D` moves the clock back.',
    body: { shape: MOVE },
    replies: REPLIES,
    handle: ({ sandbox, body: { by } }) => sandbox.change(() => advance(sandbox.clock, by)),
  }),
];

function advance(clock: MovableClock, by: number): ControlReply {
  try {
    clock.advance(by);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const expected = 'a duration that leads to a time from 1970 to 9999';
    return refuseInput([{ path: '$.by', expected, found: 'one that leads out of that range' }]);
  }
  return clockReply(clock);
}

function clockReply(clock: MovableClock): ControlReply {
  const { frozen, real } = clock;
  const state: ClockState = { now: new Date(clock.now()).toISOString(), frozen, real };
  return json(state);
}
