import type { ComponentChildren } from 'preact';
import type { SandboxStatus } from '../../control/control-shapes.ts';
import { call } from '../client/control-calls.ts';
import { hrefOf, type ViewName } from '../state/place.ts';
import { perform } from '../state/resource.ts';
import { reconnected, sandbox, serviceUrl } from '../state/session.ts';
import { ConfirmButton, CopyButton } from './buttons.tsx';
import { plural, timeText, visible } from './visible-text.ts';

/** What a client meets in this sandbox: each part leads to where it is set. */
export function StateStrip({ status }: { readonly status: SandboxStatus }) {
  const { scenarios, assumptions, clock, held, latches, upstream } = status;
  const changes = scenarios.length + assumptions.length + latches.length;
  const isFresh = changes === 0 && clock.real && upstream === undefined;
  return (
    <section class="strip" aria-label="State of this sandbox">
      <span class="address">
        <code>{serviceUrl}</code>{' '}
        <CopyButton label="Copy" name="Copy the base URL" text={() => serviceUrl} />
      </span>
      {isFresh && <span class="quiet">Nothing changed</span>}
      {scenarios.length > 0 && (
        <Part to="scenarios" kind="forced">
          {plural(scenarios.length, 'scenario')}: {visible(scenarios.join(', '))}
        </Part>
      )}
      {assumptions.length > 0 && (
        <Part to="assumptions" query="changed=yes" kind="assumed" title={assumptions.join(', ')}>
          {plural(assumptions.length, 'changed assumption')}
        </Part>
      )}
      {!clock.real && (
        <Part to="clock" kind="assumed">
          Clock {clock.frozen ? 'frozen at' : 'moved to'} {timeText(clock.now).slice(0, 16)}
        </Part>
      )}
      {latches.length > 0 && (
        <Part to="exchanges" query="held=true" kind="forced" title={latches.join(', ')}>
          {plural(latches.length, 'latch', 'latches')}
        </Part>
      )}
      {held > 0 && (
        <Part to="exchanges" query="held=true" kind="failed">
          {plural(held, 'reply waits', 'replies wait')}
        </Part>
      )}
      {upstream !== undefined && (
        <Part to="exchanges" query="basis=upstream" kind="upstream">
          Upstream {visible(upstream)}
        </Part>
      )}
      <ConfirmButton label="Reset" name={`Reset sandbox ${sandbox}`} onConfirm={reset} />
    </section>
  );
}

interface PartProps {
  readonly to: ViewName;
  readonly query?: string;
  readonly kind: string;
  readonly title?: string;
  readonly children: ComponentChildren;
}

function Part({ to, query, kind, title, children }: PartProps) {
  return (
    <a
      class={`badge ${kind}`}
      href={hrefOf(to, undefined, new URLSearchParams(query))}
      title={title}
    >
      {children}
    </a>
  );
}

async function reset(): Promise<void> {
  const done = 'Reset: store, scenarios, assumptions, clock and journal are as at the start.';
  if (await perform(done, () => call('POST', '/reset', { body: {} }))) reconnected();
}
