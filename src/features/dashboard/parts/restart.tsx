import { signal } from '@preact/signals';
import { keep, readKept } from '../state/kept.ts';
import { attempt } from '../state/resource.ts';
import { go, route } from '../state/route.ts';
import { readSaved, saveAgain } from '../state/scenarios.ts';
import { client, lastChange, notice } from '../state/session.ts';
import { type Status, status } from '../state/settings.ts';
import { Button } from './buttons.tsx';

type Kept = Pick<Status, 'scenarios' | 'assumptions' | 'clock' | 'server'>;

/** When another run of the server began, and what the one before it said last; until the user has read it. */
const restart = signal<{ readonly at: string; readonly before: Kept } | undefined>(undefined);

const KEPT = 'status';

/** An open exchange is closed if the server runs anew: another one may have its number now. */
export function noteStatus({ scenarios, assumptions, clock, server }: Status): void {
  const before = readKept<Kept>(KEPT);
  if (before?.server && server && before.server.id !== server.id) {
    if (restart.value?.at === server.startedAt) return;
    restart.value = { at: server.startedAt, before };
    lastChange.value = undefined;
    if (Number(route.value.item) > 0) go('exchanges');
  } else keep(KEPT, { scenarios, assumptions, clock, server });
}

function dismiss(): void {
  restart.value = undefined;
  keep(KEPT, status.value);
}

async function setAgain({ scenarios, assumptions, clock }: Kept): Promise<void> {
  let lost = '';
  const isDone = await attempt('Set again what was set by hand.', async () => {
    const known = (await client.call('GET /scenarios')).map(({ name }) => name);
    const saved = readSaved();
    await saveAgain(known);
    const kept = scenarios.filter((name) => known.includes(name) || saved.has(name));
    if (kept.length > 0) await client.call('PUT /scenario', { body: { scenarios: kept } });
    const options = assumptions.map((choice) => choice.split('='));
    const body = Object.fromEntries(options);
    if (options.length > 0) await client.call('PATCH /assumptions', { body });
    const { now, frozen, real } = clock;
    if (!real) await client.call('PUT /clock', { body: { now, frozen } });
    lost = scenarios.filter((name) => !kept.includes(name)).join(', ');
  });
  if (isDone) dismiss();
  const text = `The server no longer has ${lost}; all else is set again.`;
  if (isDone && lost) notice.value = { kind: 'failed', text };
}

export function Restarted() {
  if (restart.value === undefined) return null;
  const { at, before } = restart.value;
  const { scenarios, assumptions, clock } = before;
  const time = new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  const isSet = scenarios.length > 0 || assumptions.length > 0 || !clock.real;
  return (
    <p class="lost bar assumed" role="alert">
      The server was restarted at {time}; what was set by hand is gone.
      {(isSet || readSaved().size > 0) && (
        <Button label="Set it again" onClick={() => setAgain(before)} />
      )}
      <Button label="Dismiss" of="this message" onClick={dismiss} />
    </p>
  );
}
