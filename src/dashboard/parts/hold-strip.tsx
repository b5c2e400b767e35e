import type { BodyOf } from '../../client/control-client.ts';
import { formatHref } from '../state/place.ts';
import { attempt, POLL_INTERVAL_MS, useResource } from '../state/resource.ts';
import { client } from '../state/session.ts';
import { Button } from './buttons.tsx';
import { plural, visible } from './texts.tsx';

/** @param now the time of the sandbox's clock */
export function HoldStrip({ now }: { readonly now: string }) {
  const held =
    useResource('holds', (signal) => client.call('GET /holds', { signal }), POLL_INTERVAL_MS)
      .value ?? [];
  if (held.length === 0) return null;
  const release = (done: string, body: BodyOf<'POST /holds/release'>) =>
    attempt(done, () => client.call('POST /holds/release', { body }));
  const all = `Released ${plural(held.length, 'reply', 'replies')}.`;
  return (
    <section class="strip" aria-label="Replies that wait">
      {held.map(({ exchange, name, method, target, since }) => {
        const seconds = Math.max(0, Math.round((Date.parse(now) - Date.parse(since)) / 1_000));
        return (
          <span key={exchange} class="bar">
            <a href={formatHref('exchanges', String(exchange))}>
              {visible(`${method} ${target}`)} waits for {plural(seconds, 'second')}
            </a>
            {name !== 'default' && <span class="badge">{visible(name)}</span>}
            <Button
              aria-label={`Release ${exchange}`}
              onClick={() =>
                release(`Released the reply of exchange ${exchange}.`, { exchanges: [exchange] })
              }
            >
              Release
            </Button>
          </span>
        );
      })}
      {held.length > 1 && (
        <span class="actions">
          <Button onClick={() => release(all, {})}>Release all</Button>
          <Button onClick={() => release(`${all} The latest went first.`, { newestFirst: true })}>
            Release in reverse
          </Button>
        </span>
      )}
    </section>
  );
}
