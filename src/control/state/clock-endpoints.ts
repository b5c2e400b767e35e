import { INSTANT, SHIFT } from '../../scenario/time-shapes.ts';
import type { MovableClock } from '../../service/clock.ts';
import { object, optional, required } from '../../shape/objects.ts';
import { convert, FLAG, named } from '../../shape/shapes.ts';
import { CLOCK, type ClockState } from '../control-shapes.ts';
import { type ControlReply, type Endpoint, json, refuseInput, withBody } from '../endpoint.ts';

const CLOCK_SETTING = named(
  'ClockSetting',
  convert(
    object(
      {
        now: optional(INSTANT, 'The instant to show.'),
        frozen: optional(FLAG, 'Whether the clock stands still.'),
        real: optional(FLAG, 'True goes back to the time of the machine.'),
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

const MOVE = object({ by: required(SHIFT, 'A duration; with a minus it moves the clock back.') });

const REPLIES = { 200: { description: 'The clock.', shape: CLOCK } };

export const CLOCK_ENDPOINTS: readonly Endpoint[] = [
  {
    id: 'getClock',
    method: 'get',
    path: '/clock',
    tag: 'Clock',
    summary: 'What the clock shows',
    replies: REPLIES,
    handle: ({ sandbox }) => clockReply(sandbox.clock),
  },
  withBody({
    id: 'setClock',
    method: 'put',
    path: '/clock',
    tag: 'Clock',
    summary: 'Set, stop or start the clock',
    description:
      'Members that are left out stay. `{"real": true}` goes back to the time of the machine that the mock runs on.',
    body: { shape: CLOCK_SETTING },
    replies: REPLIES,
    handle: ({ sandbox: { clock }, body: { now, frozen, real } }) => {
      if (real === true) clock.reset({});
      else clock.set({ now, frozen });
      return clockReply(clock);
    },
  }),
  withBody({
    id: 'advanceClock',
    method: 'post',
    path: '/clock/advance',
    tag: 'Clock',
    summary: 'Move the clock',
    description: 'By an ISO 8601 duration such as `P30D`; `-P30D` moves it back.',
    body: { shape: MOVE },
    replies: REPLIES,
    handle: ({ sandbox: { clock }, body: { by } }) => {
      try {
        clock.advance(by);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        const expected = 'a duration that leads to an instant from 1970 to 9999';
        return refuseInput([{ path: '$.by', expected, found: 'one that leads out of it' }]);
      }
      return clockReply(clock);
    },
  }),
];

function clockReply(clock: MovableClock): ControlReply {
  const { frozen, real } = clock;
  const state: ClockState = { now: new Date(clock.now()).toISOString(), frozen, real };
  return json(state);
}
