import { Button } from '../parts/buttons.tsx';
import { Form, FormField, Submit } from '../parts/form.tsx';
import { Loading } from '../parts/panel.tsx';
import { formatTime } from '../parts/texts.tsx';
import { perform, useResource } from '../state/resource.ts';
import { formatHref } from '../state/route.ts';
import { client, status } from '../state/session.ts';

const AFTER_SUNSET = '2030-12-06T00:00:00Z';

const SUNSET = 'Jump past the sunset of getPet';

const MOVES = {
  'One day forward': 'P1D',
  '30 days forward': 'P30D',
};

export function ClockView() {
  const clock = useResource('clock', (signal) => client.call('GET /clock', { signal }), 1_000);
  if (clock.value === undefined) return <Loading of={clock} />;
  const { now, frozen, real } = clock.value;
  const set = (done: string, body: object) => perform(`Clock: ${done}.`, 'PUT /clock', { body });
  const chosen = status.value?.assumptions.find((choice) => choice.startsWith('after-sunset='));
  const follows = chosen
    ? `${chosen} says`
    : 'before, unless you change the assumption after-sunset';
  const settings = {
    [SUNSET]: { now: AFTER_SUNSET },
    [frozen ? 'Let it run' : 'Freeze']: { frozen: !frozen },
    ...(!real && { 'Back to real time': { real: true } }),
  };
  return (
    <>
      <p class="headline">
        <time dateTime={now}>{formatTime(now)}</time>{' '}
        <span class="badge">{frozen ? 'frozen' : real ? 'real time' : 'moved'}</span>
      </p>
      <div class="bar">
        {Object.entries(MOVES).map(([label, by]) => (
          <Button
            key={by}
            label={label}
            onClick={() => perform(`Clock: ${label}.`, 'POST /clock/advance', { body: { by } })}
          />
        ))}
        {Object.entries(settings).map(([label, body], index) => (
          <Button
            key={index}
            label={label}
            onClick={() =>
              set(label === SUNSET ? `${label}; it answers as ${follows}` : label, body)
            }
          />
        ))}
      </div>
      <Form
        class="bar"
        draft="clock"
        onSubmit={(texts) => {
          const now = new Date(`${texts.get('time')}Z`).toISOString();
          return set(now, { now });
        }}
      >
        <FormField
          name="time"
          label="Date and time (UTC)"
          type="datetime-local"
          step="1"
          required
          min="1970-01-01T00:00"
          max="9999-12-31T23:59"
        />
        <Submit label="Set" />
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
