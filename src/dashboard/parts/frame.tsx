import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ReplyOf } from '../../client/control-client.ts';
import { formatHref, formatTitle, place, VIEWS, type ViewName } from '../state/place.ts';
import { attempt, POLL_INTERVAL_MS, undo, useResource } from '../state/resource.ts';
import {
  client,
  connection,
  enterToken,
  needsToken,
  notice,
  reloadAll,
  sandbox,
  serviceUrl,
} from '../state/session.ts';
import { Button, ConfirmButton, CopyButton } from './buttons.tsx';
import { Field, Form } from './form.tsx';
import { HoldStrip } from './hold-strip.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { formatTime, plural, visible } from './texts.tsx';

interface FrameProps {
  readonly current: ViewName;
  readonly title: string;
  readonly children: ComponentChildren;
}

export function Frame({ current, title, children }: FrameProps) {
  const status = useResource(
    'status',
    (signal) => client.call('GET /status', { signal }),
    POLL_INTERVAL_MS,
  );
  const { item } = place.value;
  const latest = status.value?.latestExchange ?? 0;
  const seen = useRef(latest);
  if (!document.hidden) seen.current = latest;
  const unseen = Math.max(0, latest - seen.current);
  useEffect(() => {
    const count = unseen > 0 ? `(${unseen.toLocaleString('en')}) ` : '';
    const opened = item === undefined ? '' : ` ${item}`;
    document.title = `${count}${title}${opened} · ${sandbox} · petstore-mock`;
  }, [title, item, unseen]);
  const menu = useRef<HTMLElement>(null);
  useEffect(() => {
    if (menu.current?.matches(':popover-open')) menu.current.hidePopover();
  }, [current]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <b class="brand">petstore-mock</b>
        <Button class="menu" popovertarget="views">
          {title} <span aria-hidden="true">▾</span>
        </Button>
        <nav id="views" popover="auto" aria-label="Views" ref={menu}>
          {VIEWS.map((name) => (
            <a
              key={name}
              href={formatHref(name)}
              aria-current={name === current ? 'page' : undefined}
            >
              {formatTitle(name)}
            </a>
          ))}
        </nav>
        {!needsToken.value && (
          <a class="switcher" href={formatHref('sandboxes')} aria-label={`Sandbox ${sandbox}`}>
            <span class="quiet">Sandbox</span> <b>{sandbox}</b>
          </a>
        )}
      </header>
      {status.value !== undefined && <StateStrip status={status.value} />}
      {status.value !== undefined && status.value.held > 0 && (
        <HoldStrip now={status.value.clock.now} />
      )}
      {connection.value === 'lost' && (
        <p class="notice failed" role="alert">
          The server does not answer. This page tries again every second.
        </p>
      )}
      <main id="main" tabIndex={-1}>
        {needsToken.value ? <TokenForm /> : children}
      </main>
      <Notices />
      <Shortcuts />
    </>
  );
}

function TokenForm() {
  const problem = connection.value === 'wrong-token' ? 'The server refused this token.' : undefined;
  return (
    <Form class="card form" onSubmit={(texts) => enterToken(texts.get('token')?.trim() ?? '')}>
      <h1>Control token</h1>
      <p>
        The server listens beyond this machine, so its control API needs a token. The server prints
        it when it starts, unless <code>--control-token</code> sets it.
      </p>
      <Field name="token" label="Token" type="password" required problem={problem} />
      <p class="quiet">This tab keeps the token until you close it.</p>
      <button type="submit">Use this token</button>
    </Form>
  );
}

const HELD = formatHref('exchanges', undefined, { search: 'is:held' });

function StateStrip({ status }: { readonly status: ReplyOf<'GET /status'> }) {
  const { scenarios, assumptions, clock, held, latches, upstream } = status;
  const records = Object.values<number>(status.changed).reduce((sum, count) => sum + count, 0);
  const count = (list: readonly string[], one: string, many?: string) =>
    list.length > 0 && plural(list.length, one, many);
  const parts: readonly [kind: string, text: string | false, href: string, title?: string][] = [
    [
      'forced',
      scenarios.length > 0 && `${count(scenarios, 'scenario')}: ${visible(scenarios.join(', '))}`,
      formatHref('scenarios'),
    ],
    [
      'assumed',
      records > 0 && `${plural(records, 'record')} changed since the start`,
      formatHref('store'),
    ],
    [
      'assumed',
      count(assumptions, 'changed assumption'),
      formatHref('assumptions', undefined, { changed: 'true' }),
      assumptions.join(', '),
    ],
    [
      'assumed',
      !clock.real &&
        `Clock ${clock.frozen ? 'frozen at' : 'moved to'} ${formatTime(clock.now).slice(0, 16)}`,
      formatHref('clock'),
    ],
    ['forced', count(latches, 'latch', 'latches'), HELD, latches.join(', ')],
    ['failed', held > 0 && plural(held, 'reply waits', 'replies wait'), HELD],
    [
      'upstream',
      upstream !== undefined && `Upstream ${visible(upstream)}`,
      formatHref('exchanges', undefined, { search: 'basis:upstream' }),
    ],
  ];
  const changed = parts.filter(([, text]) => text);
  return (
    <section class="strip" aria-label="State of this sandbox">
      <span class="address">
        <code>{serviceUrl}</code>{' '}
        <CopyButton label="Copy" name="Copy the base URL" text={() => serviceUrl} />
      </span>
      {changed.length === 0 && <span class="quiet">Nothing changed</span>}
      {changed.map(([kind, text, href, title]) => (
        <a key={text} class={`badge ${kind}`} href={href} title={title}>
          {text}
        </a>
      ))}
      <ConfirmButton label="Reset" name={`Reset sandbox ${sandbox}`} onConfirm={reset}>
        Its records, active scenarios, assumptions and clock go back to the start, and its exchanges
        are deleted. Snapshots and scenarios of your own stay.
      </ConfirmButton>
    </section>
  );
}

async function reset(): Promise<void> {
  const done = 'Reset: store, scenarios, assumptions, clock and journal are as at the start.';
  if (await attempt(done, () => client.call('POST /reset', { body: {} }))) reloadAll();
}

function dismiss(): void {
  notice.value = undefined;
}

/** The result of the last action: announced to screen readers, a failure until it is dismissed. */
function Notices() {
  const { view } = place.value;
  const { kind, text = '', edits } = notice.value ?? {};
  useEffect(() => {
    if (notice.value?.kind === 'failed') notice.value = undefined;
  }, [view]);
  useEffect(() => {
    if (kind !== 'done') return undefined;
    const timer = setTimeout(dismiss, 20_000);
    return () => clearTimeout(timer);
  }, [notice.value]);
  const shown = (
    <p class={`notice ${kind}`}>
      {visible(text)} {edits !== undefined && <Button onClick={() => undo(edits)}>Undo</Button>}{' '}
      <Button class="link" onClick={dismiss}>
        Dismiss
      </Button>
    </p>
  );
  return (
    <div class="notices">
      <div role="status">{kind === 'done' && shown}</div>
      <div role="alert">{kind === 'failed' && shown}</div>
    </div>
  );
}
