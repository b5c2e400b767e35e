import type { BodyOf } from '../../../client/control-client.ts';
import { COLLECTIONS } from '../../../core/contract/records.ts';
import { perform } from '../state/resource.ts';
import { formatHref, plural } from '../state/route.ts';
import { turnScenario } from '../state/scenarios.ts';
import { reloadAll, sandbox, serviceUrl } from '../state/session.ts';
import { type Status, status } from '../state/settings.ts';
import { Button, copy, Menu } from './buttons.tsx';
import { formatTime, shorten, visible } from './texts.tsx';

type Change = readonly [kind: string, text: string, href: string, end?: End];

/** Takes a change back. */
type End = readonly [label: string, press: () => unknown];

const PARTS = ['store', 'scenario', 'own-scenarios', 'assumptions', 'clock', 'journal'] as const;

type Part = (typeof PARTS)[number];

/** Lets parts of the sandbox be as at the start. */
export function restore(done: string, ...parts: readonly Part[]): Promise<boolean> {
  const keep = PARTS.filter((name) => !parts.includes(name));
  return perform(done, 'POST /reset', { body: { keep } });
}

function listChanges(status: Status): readonly Change[] {
  const { scenarios, changed, assumptions, clock, latches, held, upstream } = status;
  const find = (search: string) => formatHref('exchanges', undefined, { search });
  const endOf = (part: Part, what: string): End => [
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
