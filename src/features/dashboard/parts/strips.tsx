import type { BodyOf, ReplyOf } from '../../../client/control-client.ts';
import { COLLECTIONS } from '../../../core/contract/records.ts';
import { perform } from '../state/resource.ts';
import { formatHref } from '../state/route.ts';
import { turnScenario } from '../state/scenarios.ts';
import { reloadAll, sandbox, serviceUrl, status } from '../state/session.ts';
import { Button, copy } from './buttons.tsx';
import { formatTime, plural, shorten, visible } from './texts.tsx';

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

function listChanges(status: ReplyOf<'GET /status'>): readonly Change[] {
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
        {changes.map(([kind, text, href, end]) => (
          <span key={text} class={`chip ${kind}`}>
            <a href={href}>{text}</a>
            {end && <Button label="×" aria-label={end[0]} onClick={end[1]} />}
          </span>
        ))}
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
