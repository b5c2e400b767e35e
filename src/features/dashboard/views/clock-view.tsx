import { SUNSET_ENDS } from '../../../core/contract/operations.ts';
import { Button, Refusal } from '../parts/buttons.tsx';
import { Form, FormField, Submit } from '../parts/form.tsx';
import { Loading } from '../parts/panel.tsx';
import { formatTime } from '../parts/texts.tsx';
import { useResource } from '../state/resource.ts';
import { formatHref } from '../state/route.ts';
import { changeClock, optionOf, readTime, status } from '../state/settings.ts';

const SUNSET = 'Jump past the sunset of getPet';

export function ClockView() {
  useResource('tick', async () => Date.now(), 1_000);
  if (status.value === undefined) return <Loading of={{}} />;
  const { frozen, real } = status.value.clock;
  const now = new Date(readTime(status.value)).toISOString();
  const chosen = optionOf({ id: 'after-sunset', default: '' });
  const follows = chosen
    ? `after-sunset=${chosen} says`
    : 'before, unless you change the assumption after-sunset';
  const settings = {
    'One day forward': { days: 1 },
    '30 days forward': { days: 30 },
    [SUNSET]: { now: new Date(SUNSET_ENDS).toISOString() },
    [frozen ? 'Let it run' : 'Freeze']: { frozen: !frozen },
    ...(!real && { 'Back to real time': { real: true } }),
  };
  return (
    <>
      <p class="headline">
        <time dateTime={now}>{formatTime(now)}</time>{' '}
        <span class="badge">{frozen ? 'frozen' : real ? 'real time' : 'moved'}</span>{' '}
        <Refusal of="clock" />
      </p>
      <div class="bar">
        {Object.entries(settings).map(([label, setting], index) => (
          <Button
            key={index}
            label={label}
            onClick={() => {
              const done = label === SUNSET ? `${label}; it answers as ${follows}` : label;
              return changeClock(`Clock: ${done}.`, setting);
            }}
          />
        ))}
      </div>
      <Form
        class="bar"
        draft="clock"
        onSubmit={(texts) => {
          const now = new Date(`${texts.get('time')}Z`).toISOString();
          return changeClock(`Clock: ${now}.`, { now });
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
