import { ref } from '../../contract/openapi-schemas.ts';
import { FIELD_TYPES } from '../../contract/records.ts';
import { parseDuration } from '../../scenario/duration.ts';
import type { MovableClock } from '../../service/clock.ts';
import { readMembers } from '../checks.ts';
import { type ControlReply, type Endpoint, json, refuseInput } from '../endpoint.ts';

/** An instant that the clock can show. */
export const INSTANT = {
  expected: 'an RFC 3339 instant from 1970 to 9999 such as "2030-12-06T00:00:00Z"',
  read(value: unknown): number | undefined {
    const instant = Date.parse(FIELD_TYPES.dateTime.read(value) ?? '');
    return instant >= 0 && instant < Date.UTC(10_000, 0) ? instant : undefined;
  },
};

const BOOLEAN = FIELD_TYPES.boolean;

const DURATION = {
  expected:
    'an ISO 8601 duration of weeks, days, hours, minutes and seconds such as "P30D" or "-PT10M"',
  read(value: unknown): number | undefined {
    if (typeof value !== 'string') return undefined;
    const milliseconds = parseDuration(value.replace(/^-/, ''));
    return value.startsWith('-') && milliseconds !== undefined ? -milliseconds : milliseconds;
  },
};

export const CLOCK_ENDPOINTS: readonly Endpoint[] = [
  {
    id: 'getClock',
    method: 'get',
    path: '/clock',
    tag: 'Clock',
    summary: 'What the clock shows',
    replies: { 200: { description: 'The clock.', schema: ref('schemas', 'Clock') } },
    handle: ({ sandbox }) => clockReply(sandbox.clock),
  },
  {
    id: 'setClock',
    method: 'put',
    path: '/clock',
    tag: 'Clock',
    summary: 'Set, stop or start the clock',
    description:
      'What is left out stays. `{"real": true}` goes back to the time of the machine that the mock runs on.',
    body: { schema: ref('schemas', 'ClockSetting') },
    replies: { 200: { description: 'The clock.', schema: ref('schemas', 'Clock') } },
    handle: ({ sandbox: { clock }, body }) => {
      const reading = readMembers({ now: INSTANT, frozen: BOOLEAN, real: BOOLEAN }, body);
      if (!reading.ok) return refuseInput(reading.problems);
      const { now, frozen, real } = reading.value;
      if (real === true && frozen === true) {
        const found = 'both';
        return refuseInput([{ path: '$', expected: 'a clock that is real or frozen', found }]);
      }
      if (real === true) clock.reset({});
      else if (now !== undefined || frozen !== undefined) clock.set({ now, frozen });
      else {
        return refuseInput([{ path: '$', expected: 'now, frozen or real', found: 'none of them' }]);
      }
      return clockReply(clock);
    },
  },
  {
    id: 'advanceClock',
    method: 'post',
    path: '/clock/advance',
    tag: 'Clock',
    summary: 'Move the clock',
    description: 'By an ISO 8601 duration such as `P30D`; `-P30D` moves it back.',
    body: {
      schema: {
        type: 'object',
        required: ['by'],
        properties: { by: { type: 'string', examples: ['P30D', 'PT10M', '-PT1H'] } },
      },
    },
    replies: { 200: { description: 'The clock.', schema: ref('schemas', 'Clock') } },
    handle: ({ sandbox: { clock }, body }) => {
      const reading = readMembers({ by: DURATION }, body);
      if (!reading.ok) return refuseInput(reading.problems);
      const { by } = reading.value;
      if (by === undefined) {
        return refuseInput([{ path: '$.by', expected: DURATION.expected, found: 'nothing' }]);
      }
      try {
        clock.advance(by);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        const expected = 'a duration that leads to an instant from 1970 to 9999';
        return refuseInput([{ path: '$.by', expected, found: 'one that leads out of it' }]);
      }
      return clockReply(clock);
    },
  },
];

function clockReply(clock: MovableClock): ControlReply {
  const { frozen, real } = clock;
  return json({ now: new Date(clock.now()).toISOString(), frozen, real });
}
