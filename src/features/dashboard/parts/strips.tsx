import { signal } from '@preact/signals';
import type { BodyOf } from '../../../client/control-client.ts';
import { COLLECTIONS } from '../../../core/contract/records.ts';
import { RESET_PARTS, type ResetPart } from '../../../core/sandbox/state.ts';
import { attempt, perform } from '../state/resource.ts';
import { formatHref, go, plural, route } from '../state/route.ts';
import { readSaved, saveAgain, turnScenario } from '../state/scenarios.ts';
import {
  client,
  keep,
  lastChange,
  notice,
  readKept,
  reloadAll,
  sandbox,
  serviceUrl,
} from '../state/session.ts';
import { type Status, status } from '../state/settings.ts';
import { Button, copy, Menu } from './buttons.tsx';
import { formatTime, shorten, visible } from './texts.tsx';

type Change = readonly [kind: string, text: string, href: string, end?: End];

/** Takes a change back. */
type End = readonly [label: string, press: () => unknown];

/** Lets parts of the sandbox be as at the start. */
export function restore(done: string, ...parts: readonly ResetPart[]): Promise<boolean> {
  const kept = RESET_PARTS.filter((name) => !parts.includes(name));
  return perform(done, 'POST /reset', { body: { keep: kept } });
}

function listChanges(status: Status): readonly Change[] {
  const { scenarios, changed, assumptions, clock, latches, held, upstream } = status;
  const find = (search: string) => formatHref('exchanges', undefined, { search });
  const endOf = (part: ResetPart, what: string): End => [
    `Reset the ${what}`,
    () => restore(`Reset the ${what}.`, part),
  ];
  const records = COLLECTIONS.reduce((sum, name) => sum + changed[name], 0);
  const store = formatHref('store', COLLECTIONS.find((name) => changed[name] > 0) ?? 'animals');
  const choices =
    assumptions.length > 1 ? `${assumptions.length} assumptions changed` : assumptions.join('');
  const moved = `clock ${clock.frozen ? 'frozen at' : 'moved to'} ${formatTime(clock.now).slice(0, 16)}`;
  const waiting = plural(held, 'reply waits', 'replies wait');
  const changedAssumptions = formatHref('assumptions', undefined, { changed: 'true' });
  const scenarioOf = (name: string): Change => [
    'forced',
    `scenario ${shorten(visible(name), 40)}`,
    formatHref('scenarios'),
    [`Turn off ${name}`, () => turnScenario(name, false)],
  ];
  const rows: readonly (Change | false)[] = [
    held > 0 && ['failed', waiting, find('hold:any')],
    ...scenarios.map(scenarioOf),
    records > 0 && [
      'assumed',
      `${plural(records, 'record')} changed`,
      store,
      endOf('store', 'records'),
    ],
    choices !== '' && ['assumed', choices, changedAssumptions, endOf('assumptions', 'assumptions')],
    !clock.real && ['assumed', moved, formatHref('clock'), endOf('clock', 'clock')],
    latches.length > 0 && ['forced', plural(latches.length, 'latch', 'latches'), find('hold:any')],
    upstream !== undefined && ['upstream', `upstream ${visible(upstream)}`, find('basis:upstream')],
  ];
  return rows.filter((row) => row !== false);
}

function drawChip([kind, text, href, end]: Change) {
  return (
    <span key={text} class={`chip ${kind}`}>
      <a href={href}>{text}</a>
      {end && <Button label="×" aria-label={end[0]} onClick={end[1]} />}
    </span>
  );
}

const RESET =
  'Its exchanges, coverage and findings are deleted, which Undo does not bring back. Its records, active scenarios, assumptions and clock go back to the start. Snapshots and scenarios of your own stay.';

async function reset(): Promise<void> {
  const done = 'Reset: store, scenarios, assumptions, clock and journal are as at the start.';
  if (await perform(done, 'POST /reset', { body: {} })) reloadAll();
}

const normalize = () =>
  restore(
    'Back to normal. The calls are still there.',
    'store',
    'scenario',
    'assumptions',
    'clock',
  );

export function StateStrip() {
  const changes = status.value === undefined ? [] : listChanges(status.value);
  const { scenarios = [], clock } = status.value ?? {};
  // The others are in a menu.
  const shown = changes.length === 1 ? 1 : Math.max(0, Math.floor((innerWidth - 560) / 170));
  const hidden = changes.length - shown;
  const isOther = scenarios.length > 0 || clock?.real === false;
  return (
    <section class={isOther ? 'strip changed' : 'strip'} aria-label="State of this sandbox">
      <span class="url">
        <code>{serviceUrl}</code>{' '}
        <Button class="link" label="Copy" of="the base URL" onClick={() => copy(serviceUrl)} />
      </span>
      <span class="chips">
        {status.value !== undefined && changes.length === 0 && (
          <span class="quiet">Nothing changed</span>
        )}
        {changes.slice(0, shown).map(drawChip)}
        {hidden > 0 && (
          <Menu
            label={shown > 0 ? `+${hidden} more` : `${hidden}: ${changes[0]?.[1]}`}
            of="changes"
          >
            {changes.slice(shown).map(drawChip)}
          </Menu>
        )}
      </span>
      {changes.length > 0 && <Button label="Back to normal" onClick={normalize} />}
      <Button label="Reset" of={`sandbox ${sandbox}`} confirm={RESET} onClick={reset} />
    </section>
  );
}

function release(done: string, body: BodyOf<'POST /holds/release'>): Promise<boolean> {
  return perform(done, 'POST /holds/release', { body });
}

export function ReleaseAll() {
  const last = { newestFirst: true };
  return (
    <p class="bar">
      <Button label="Release all" onClick={() => release('Released all replies.', {})} />
      <Button
        label="Release in reverse"
        onClick={() => release('Released all replies, the latest first.', last)}
      />
    </p>
  );
}

export function ReleaseButton({ exchange }: { readonly exchange: number }) {
  const done = `Released the reply of exchange ${exchange}.`;
  return (
    <Button
      class="release"
      label="Release"
      of={`exchange ${exchange}`}
      onClick={() => release(done, { exchanges: [exchange] })}
    />
  );
}

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
