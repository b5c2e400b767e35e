import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ClockState } from '../../control/control-shapes.ts';
import { Button } from '../parts/buttons.tsx';
import { Field, Form } from '../parts/form.tsx';
import { Loading } from '../parts/loading.tsx';
import { timeText } from '../parts/visible-text.ts';
import { hrefOf } from '../state/place.ts';
import { OFTEN, useResource } from '../state/resource.ts';

/** The first instant at which the document no longer promises getPet. */
const AFTER_SUNSET = '2030-12-06T00:00:00Z';

const MOVES = [
  ['One day back', '-P1D'],
  ['One hour forward', 'PT1H'],
  ['One day forward', 'P1D'],
] as const;

/** The clock of the sandbox, and controls to move it. */
export function ClockView() {
  const clock = useResource<ClockState>('/clock', OFTEN);
  const state = clock.value;
  if (state === undefined) return <Loading resource={clock} />;
  const set = (done: string, body: object) => clock.act(done, 'PUT', '/clock', { body });
  const advance = (by: string) =>
    clock.act('Clock moved.', 'POST', '/clock/advance', { body: { by } });
  return (
    <>
      <p class="now">
        <Ticking state={state} />{' '}
        <span class="badge">{state.frozen ? 'frozen' : state.real ? 'real time' : 'moved'}</span>
      </p>
      <div class="bar">
        {MOVES.map(([label, by]) => (
          <Button key={by} onClick={() => advance(by)}>
            {label}
          </Button>
        ))}
        <Button onClick={() => set('Clock moved.', { now: monthAfter(state.now) })}>
          One month forward
        </Button>
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
        sunset is an open question: <a href={hrefOf('assumptions', 'after-sunset')}>after-sunset</a>
        .
      </p>
    </>
  );
}

/** The same day and time of the next month, or that month's last day. */
function monthAfter(now: string): string {
  const date = new Date(now);
  const day = date.getUTCDate();
  date.setUTCMonth(date.getUTCMonth() + 1);
  if (date.getUTCDate() < day) date.setUTCDate(0);
  return date.toISOString();
}

/** The time, which keeps running between two replies of the server. */
function Ticking({ state: { now, frozen } }: { readonly state: ClockState }) {
  const shown = useSignal(now);
  useEffect(() => {
    const start = performance.now();
    const show = () => {
      const passed = frozen ? 0 : performance.now() - start;
      shown.value = new Date(Date.parse(now) + passed).toISOString();
    };
    show();
    const timer = setInterval(show, 250);
    return () => clearInterval(timer);
  }, [now, frozen]);
  return <time dateTime={shown.value}>{timeText(shown.value)}</time>;
}
