import { signal } from '@preact/signals';
import type { ReplyOf } from '../../../client/control-client.ts';
import { attempt } from '../state/resource.ts';
import { go, route } from '../state/route.ts';
import { saveAgain, saved } from '../state/scenarios.ts';
import { client, lastChange, status } from '../state/session.ts';
import { Button } from './buttons.tsx';

type Status = ReplyOf<'GET /status'>;

/** When another run of the server began, and what the one before it said last; until the user has read it. */
const restart = signal<{ readonly at: string; readonly before: Status } | undefined>(undefined);

/** An open exchange is closed if the server runs anew: another one may have its number now. */
export function noteStatus(next: Status): void {
  const before = status.value;
  status.value = next;
  const { server } = next;
  if (!before?.server || !server || before.server.id === server.id) return;
  restart.value = { at: server.startedAt, before };
  lastChange.value = undefined;
  if (Number(route.value.item) > 0) go('exchanges');
}

function dismiss(): void {
  restart.value = undefined;
}

async function setAgain({ scenarios, assumptions, clock }: Status): Promise<void> {
  const isDone = await attempt('Set again what was set by hand.', async () => {
    const known = (await client.call('GET /scenarios')).map(({ name }) => name);
    await saveAgain(known);
    const kept = scenarios.filter((name) => known.includes(name) || saved.has(name));
    if (kept.length > 0) await client.call('PUT /scenario', { body: { scenarios: kept } });
    const options = assumptions.map((choice) => choice.split('='));
    await client.call('PATCH /assumptions', { body: Object.fromEntries(options) });
    const { now, frozen, real } = clock;
    if (!real) await client.call('PUT /clock', { body: { now, frozen } });
    const lost = scenarios.filter((name) => !kept.includes(name)).join(', ');
    if (lost) throw new Error(`The server no longer has ${lost}; all else is set again.`);
  });
  if (isDone) dismiss();
}

export function Restarted() {
  if (restart.value === undefined) return null;
  const { at, before } = restart.value;
  const { scenarios, assumptions, clock } = before;
  const time = new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  return (
    <p class="lost bar assumed" role="alert">
      The server was restarted at {time}; what was set by hand is gone.
      {(scenarios.length > 0 || assumptions.length > 0 || !clock.real || saved.size > 0) && (
        <Button label="Set it again" onClick={() => setAgain(before)} />
      )}
      <Button label="Dismiss" of="this message" onClick={dismiss} />
    </p>
  );
}
