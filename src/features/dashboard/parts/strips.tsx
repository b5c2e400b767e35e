import type { BodyOf, ReplyOf } from '../../../client/control-client.ts';
import { COLLECTIONS } from '../../../core/contract/records.ts';
import { perform, usePolled } from '../state/resource.ts';
import { formatHref } from '../state/route.ts';
import { client, now, reloadAll, sandbox, serviceUrl } from '../state/session.ts';
import { Button, copy } from './buttons.tsx';
import { formatTime, plural, shorten, visible } from './texts.tsx';

interface Change {
  readonly kind: string;
  readonly text: string;
  readonly href: string;
  /** Ends it. */
  readonly end?: { readonly label: string; readonly press: () => unknown };
}

const PARTS = ['store', 'scenario', 'own-scenarios', 'assumptions', 'clock', 'journal'] as const;

/** Lets one part of the sandbox be as at the start. */
function restore(part: (typeof PARTS)[number], done: string): Promise<boolean> {
  return perform(done, 'POST /reset', { body: { keep: PARTS.filter((name) => name !== part) } });
}

function listChanges(status: ReplyOf<'GET /status'>): readonly Change[] {
  const { scenarios, changed, assumptions, clock, latches, held, upstream } = status;
  const find = (search: string) => formatHref('exchanges', undefined, { search });
  const turnOff = (name: string) =>
    perform(`Turned off ${name}.`, 'PUT /scenario', {
      body: { scenarios: scenarios.filter((other) => other !== name) },
    });
  const records = COLLECTIONS.reduce((sum, name) => sum + changed[name], 0);
  const [first = 'animals'] = COLLECTIONS.filter((name) => changed[name] > 0);
  const changes: (Change | false | undefined | '')[] = [
    held > 0 && {
      kind: 'failed',
      text: plural(held, 'reply waits', 'replies wait'),
      href: find('is:held'),
    },
    ...scenarios.map((name) => ({
      kind: 'forced',
      text: `scenario ${shorten(visible(name), 40)}`,
      href: formatHref('scenarios'),
      end: { label: `Turn off ${name}`, press: () => turnOff(name) },
    })),
    records > 0 && {
      kind: 'assumed',
      text: `${plural(records, 'record')} changed`,
      href: formatHref('store', first),
      end: {
        label: 'Reset the records',
        press: () => restore('store', 'The records are as at the start.'),
      },
    },
    assumptions.length > 0 && {
      kind: 'assumed',
      text:
        assumptions.length > 1 ? `${assumptions.length} assumptions changed` : assumptions.join(''),
      href: formatHref('assumptions', undefined, { changed: 'true' }),
      end: {
        label: 'Reset the assumptions',
        press: () => restore('assumptions', 'The assumptions are as at the start.'),
      },
    },
    !clock.real && {
      kind: 'assumed',
      text: `clock ${clock.frozen ? 'frozen at' : 'moved to'} ${formatTime(clock.now).slice(0, 16)}`,
      href: formatHref('clock'),
      end: {
        label: 'Reset the clock',
        press: () => restore('clock', 'The clock is as at the start.'),
      },
    },
    latches.length > 0 && {
      kind: 'forced',
      text: plural(latches.length, 'latch', 'latches'),
      href: find('is:held'),
    },
    upstream && {
      kind: 'upstream',
      text: `upstream ${visible(upstream)}`,
      href: find('basis:upstream'),
    },
  ];
  return changes.filter((change) => change !== undefined && change !== '' && change !== false);
}

const RESET =
  'Its exchanges, coverage and findings are deleted, which Undo does not bring back. Its records, active scenarios, assumptions and clock go back to the start. Snapshots and scenarios of your own stay.';

async function reset(): Promise<void> {
  const done = 'Reset: store, scenarios, assumptions, clock and journal are as at the start.';
  if (await perform(done, 'POST /reset', { body: {} })) reloadAll();
}

function normalize(): Promise<boolean> {
  const done = 'Back to normal. The calls are still there.';
  return perform(done, 'POST /reset', { body: { keep: ['own-scenarios', 'journal'] } });
}

export function StateStrip({ status }: { readonly status: ReplyOf<'GET /status'> | undefined }) {
  const changes = status === undefined ? [] : listChanges(status);
  const isOther = (status?.scenarios.length ?? 0) > 0 || status?.clock.real === false;
  return (
    <section class={isOther ? 'strip changed' : 'strip'} aria-label="State of this sandbox">
      <span class="url">
        <code>{serviceUrl}</code>{' '}
        <Button class="link" label="Copy" of="the base URL" onClick={() => copy(serviceUrl)} />
      </span>
      <span class="chips">
        {status !== undefined && changes.length === 0 && <span class="quiet">Nothing changed</span>}
        {changes.map(({ kind, text, href, end }) => (
          <span key={text} class={`chip ${kind}`}>
            <a href={href}>{text}</a>
            {end && <Button label="×" aria-label={end.label} onClick={end.press} />}
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

export function HoldList() {
  const { value: held = [] } = usePolled('holds', (signal) =>
    client.call('GET /holds', { signal }),
  );
  if (held.length === 0) return null;
  const all = `Released ${plural(held.length, 'reply', 'replies')}.`;
  return (
    <section class="card bar" aria-label="Replies that wait">
      {held.map(({ exchange, name, method, target, since }) => {
        const seconds = Math.max(0, Math.round((now.value - Date.parse(since)) / 1_000));
        return (
          <span key={exchange} class="bar">
            <a href={formatHref('exchanges', exchange)}>
              {exchange}: {visible(`${method} ${target}`)} waits for {plural(seconds, 'second')}
            </a>
            {name !== 'default' && <span class="badge">{visible(name)}</span>}
            <ReleaseButton exchange={exchange} />
          </span>
        );
      })}
      {held.length > 1 && (
        <span class="actions">
          <Button label="Release all" onClick={() => release(all, {})} />
          <Button
            label="Release in reverse"
            onClick={() => release(`${all} The latest went first.`, { newestFirst: true })}
          />
        </span>
      )}
    </section>
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
