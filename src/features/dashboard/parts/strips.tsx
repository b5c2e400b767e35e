import type { BodyOf, ReplyOf } from '../../../client/control-client.ts';
import { COLLECTIONS } from '../../../core/contract/records.ts';
import { TABLES } from '../state/records.ts';
import { perform, usePolled } from '../state/resource.ts';
import { formatHref } from '../state/route.ts';
import { client, reloadAll, sandbox, serviceUrl } from '../state/session.ts';
import { Button, copy } from './buttons.tsx';
import { formatTime, plural, shorten, visible } from './texts.tsx';

type Change = readonly [kind: string, text: string | false | undefined, href: string];

function listChanges(status: ReplyOf<'GET /status'>): readonly Change[] {
  const { scenarios, changed, assumptions, clock, latches, held, upstream } = status;
  const named = (names: readonly string[], one: string, many?: string) =>
    names.length > 0 &&
    `${plural(names.length, one, many)}: ${shorten(visible(names.join(', ')), 60)}`;
  const find = (search: string) => formatHref('exchanges', undefined, { search });
  const now = `${clock.frozen ? 'frozen at' : 'moved to'} ${formatTime(clock.now).slice(0, 16)}`;
  return [
    ['forced', named(scenarios, 'scenario'), formatHref('scenarios')],
    ...COLLECTIONS.map((name): Change => {
      const text = plural(changed[name], TABLES[name].noun, TABLES[name].nouns);
      return ['assumed', changed[name] > 0 && `${text} changed`, formatHref('store', name)];
    }),
    ['assumed', named(assumptions, 'changed assumption'), formatHref('assumptions')],
    ['assumed', !clock.real && `Clock ${now}`, formatHref('clock')],
    ['forced', named(latches, 'latch', 'latches'), find('is:held')],
    ['failed', held > 0 && plural(held, 'reply waits', 'replies wait'), find('is:held')],
    ['upstream', upstream && `Upstream ${visible(upstream)}`, find('basis:upstream')],
  ];
}

const RESET =
  'Its records, active scenarios, assumptions and clock go back to the start, and its exchanges are deleted: Undo does not bring those back. Snapshots and scenarios of your own stay.';

async function reset(): Promise<void> {
  const done = 'Reset: store, scenarios, assumptions, clock and journal are as at the start.';
  if (await perform(done, 'POST /reset', { body: {} })) reloadAll();
}

export function StateStrip(status: ReplyOf<'GET /status'>) {
  const changes = listChanges(status).filter(([, text]) => text);
  return (
    <section class="strip" aria-label="State of this sandbox">
      <span>
        <code>{serviceUrl}</code>{' '}
        <Button label="Copy" of="the base URL" onClick={() => copy(serviceUrl)} />
      </span>
      {changes.length === 0 && <span class="quiet">Nothing changed</span>}
      {changes.map(([kind, text, href]) => (
        <a key={text} class={`badge ${kind}`} href={href}>
          {text}
        </a>
      ))}
      <Button label="Reset" of={`sandbox ${sandbox}`} confirm={RESET} onClick={reset} />
    </section>
  );
}

function release(done: string, body: BodyOf<'POST /holds/release'>): Promise<boolean> {
  return perform(done, 'POST /holds/release', { body });
}

export function HoldStrip({ now }: { readonly now: string }) {
  const { value: held = [] } = usePolled('holds', (signal) =>
    client.call('GET /holds', { signal }),
  );
  if (held.length === 0) return null;
  const all = `Released ${plural(held.length, 'reply', 'replies')}.`;
  return (
    <section class="strip" aria-label="Replies that wait">
      {held.map(({ exchange, name, method, target, since }) => {
        const seconds = Math.max(0, Math.round((Date.parse(now) - Date.parse(since)) / 1_000));
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
