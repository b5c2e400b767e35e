import type { BodyOf } from '../../client/control-client.ts';
import { Button } from '../parts/buttons.tsx';
import { Field, Form } from '../parts/form.tsx';
import { formatTime, Loading } from '../parts/texts.tsx';
import { formatHref } from '../state/place.ts';
import { attempt, useResource } from '../state/resource.ts';
import { client } from '../state/session.ts';

/** The first instant at which the document no longer promises getPet. */
const AFTER_SUNSET = '2030-12-06T00:00:00Z';

const MOVES = [
  ['One day back', '-P1D'],
  ['One hour forward', 'PT1H'],
  ['One day forward', 'P1D'],
  ['30 days forward', 'P30D'],
] as const;

export function ClockView() {
  const clock = useResource('clock', (signal) => client.call('GET /clock', { signal }), 1_000);
  const state = clock.value;
  if (state === undefined) return <Loading resource={clock} />;
  const set = (done: string, body: BodyOf<'PUT /clock'>) =>
    attempt(done, () => client.call('PUT /clock', { body }));
  const advance = (by: string) =>
    attempt('Clock moved.', () => client.call('POST /clock/advance', { body: { by } }));
  return (
    <>
      <p class="now">
        <time dateTime={state.now}>{formatTime(state.now)}</time>{' '}
        <span class="badge">{state.frozen ? 'frozen' : state.real ? 'real time' : 'moved'}</span>
      </p>
      <div class="bar">
        {MOVES.map(([label, by]) => (
          <Button key={by} onClick={() => advance(by)}>
            {label}
          </Button>
        ))}
        <Button onClick={() => set('Clock set past the sunset.', { now: AFTER_SUNSET })}>
          Jump past the sunset of getPet
        </Button>
        <Button
          aria-pressed={state.frozen}
          onClick={() => set('Clock changed.', { frozen: !state.frozen })}
        >
          Freeze
        </Button>
        <Button disabled={state.real} onClick={() => set('Real time.', { real: true })}>
          Back to real time
        </Button>
      </div>
      <Form
        class="bar fields"
        onSubmit={(texts) =>
          set('Clock set.', { now: new Date(`${texts.get('time')}Z`).toISOString() })
        }
      >
        <Field
          name="time"
          label="Date and time (UTC)"
          type="datetime-local"
          step="1"
          required
          min="1970-01-01T00:00"
          max="9999-12-31T23:59"
        />
        <button type="submit">Set</button>
      </Form>
      <p class="quiet">
        The time is in UTC and applies to this sandbox only. The Date header, ship dates, the expiry
        of keys, rate limits and the sunset of getPet follow it. What getPet answers after its
        sunset is an open question:{' '}
        <a href={formatHref('assumptions', 'after-sunset')}>after-sunset</a>.
      </p>
    </>
  );
}
