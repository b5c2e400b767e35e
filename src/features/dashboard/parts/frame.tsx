import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ReplyOf } from '../../../client/control-client.ts';
import { attempt, undo, usePolled } from '../state/resource.ts';
import { noteRun, type Restart, serverRestart } from '../state/restart.ts';
import { capitalize, formatHref, openedTitle } from '../state/route.ts';
import {
  arrivals,
  client,
  connection,
  enterToken,
  needsToken,
  notice,
  sandbox,
  seenExchange,
  status,
} from '../state/session.ts';
import { Button, Confirmation } from './buttons.tsx';
import { Form, FormField } from './form.tsx';
import { StateStrip } from './strips.tsx';
import { formatCount, formatLocalTime, visible } from './texts.tsx';

/** What is observed, what shapes the replies, and what can be read. */
const GROUPS = [
  ['exchanges', 'coverage'],
  ['scenarios', 'store', 'assumptions', 'clock'],
  ['sandboxes', 'reference'],
] as const;

type ViewName = (typeof GROUPS)[number][number];

interface FrameProps {
  readonly current: ViewName;
  readonly children: ComponentChildren;
}

function countFor(view: ViewName, status: ReplyOf<'GET /status'> | undefined): number {
  if (status === undefined) return 0;
  const { latestExchange, scenarios, assumptions, changed } = status;
  const counts: Partial<Record<ViewName, number>> = {
    exchanges: latestExchange,
    scenarios: scenarios.length,
    store: changed.animals + changed.inventory + changed.orders,
    assumptions: assumptions.length,
  };
  return counts[view] ?? 0;
}

export function Frame({ current, children }: FrameProps) {
  const { value } = usePolled('status', (signal) => client.call('GET /status', { signal }));
  const title = capitalize(current);
  const latest = value?.latestExchange ?? 0;
  const seen = useRef(latest);
  if (!document.hidden) seen.current = latest;
  const unseen = Math.max(0, latest - seen.current);
  useEffect(() => {
    const count = unseen > 0 ? `(${unseen.toLocaleString('en')}) ` : '';
    document.title = `${count}${openedTitle.value ?? title} · ${sandbox} · petstore-mock`;
  }, [title, openedTitle.value, unseen]);
  useEffect(() => {
    if (value === undefined) return;
    status.value = value;
    noteRun(value);
    // A call that came before the stream was open.
    if (latest > (seenExchange.value ?? latest)) arrivals.value += 1;
  }, [value]);
  const menu = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (menu.current?.matches(':popover-open')) menu.current.hidePopover();
    if (document.activeElement !== document.body) heading.current?.focus();
  }, [current]);
  useKeptFocus();
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <b class="brand">petstore-mock</b>
        <Button class="menu" label={title} popovertarget="views" />
        <nav id="views" popover="auto" aria-label="Views" ref={menu}>
          {GROUPS.map((group) => (
            <span key={group[0]} class="group">
              {group.map((name) => (
                <ViewLink
                  key={name}
                  name={name}
                  isCurrent={name === current}
                  count={countFor(name, value)}
                />
              ))}
            </span>
          ))}
        </nav>
        {!needsToken.value && (
          <a class="switcher" href={formatHref('sandboxes')} aria-label={`Sandbox ${sandbox}`}>
            <span class="quiet">Sandbox</span> <b>{sandbox}</b>
          </a>
        )}
      </header>
      <StateStrip status={value} />
      {connection.value === 'lost' && (
        <p class="lost problem" role="alert">
          The server does not answer. This page tries again every second.
        </p>
      )}
      {serverRestart.value && <Restarted of={serverRestart.value} />}
      <main id="main" tabIndex={-1}>
        <h1 class={current === 'exchanges' ? 'unseen' : ''} ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {needsToken.value ? <TokenForm /> : children}
      </main>
      <Notices />
      <Confirmation />
      <Shortcuts />
    </>
  );
}

function Restarted({ of: { at, before } }: { readonly of: Restart }) {
  const { scenarios, assumptions, clock } = before;
  const isChanged = scenarios.length > 0 || assumptions.length > 0 || !clock.real;
  const setAgain = async () => {
    const isDone = await attempt('Set again what was set by hand.', async () => {
      const known = (await client.call('GET /scenarios')).map(({ name }) => name);
      const kept = scenarios.filter((name) => known.includes(name));
      if (kept.length > 0) await client.call('PUT /scenario', { body: { scenarios: kept } });
      if (assumptions.length > 0) {
        const options = assumptions.map((choice) => choice.split('='));
        await client.call('PATCH /assumptions', { body: Object.fromEntries(options) });
      }
      const { now, frozen, real } = clock;
      if (!real) await client.call('PUT /clock', { body: { now, frozen } });
      if (kept.length < scenarios.length) {
        const lost = scenarios.filter((name) => !kept.includes(name));
        throw new Error(`The server no longer has ${lost.join(', ')}; all else is set again.`);
      }
    });
    if (isDone) serverRestart.value = undefined;
  };
  return (
    <p class="lost bar assumed" role="alert">
      The server was restarted at {formatLocalTime(at)}; what was set by hand is gone.
      {isChanged && <Button label="Set it again" onClick={setAgain} />}
      <Button
        label="Dismiss"
        of="this message"
        onClick={() => {
          serverRestart.value = undefined;
        }}
      />
    </p>
  );
}

interface ViewLinkProps {
  readonly name: ViewName;
  readonly isCurrent: boolean;
  readonly count: number;
}

function ViewLink({ name, isCurrent, count }: ViewLinkProps) {
  return (
    <a
      href={formatHref(name)}
      aria-current={isCurrent && 'page'}
      data-count={count > 0 ? formatCount(count) : undefined}
    >
      {capitalize(name)}
    </a>
  );
}

/** An action can remove what has the focus: then it goes to what is near, not to the body. */
function useKeptFocus(): void {
  useEffect(() => {
    let path: readonly Element[] = [];
    let before: Element | undefined;
    const onFocus = ({ target }: FocusEvent) => {
      const [last] = path;
      if (last !== undefined && last.closest('.notices, dialog') === null) before = last;
      const next: Element[] = [];
      for (let at = target instanceof Element ? target : null; at !== null; at = at.parentElement) {
        next.push(at);
      }
      path = next;
    };
    const observer = new MutationObserver(() => {
      if (document.activeElement !== document.body || path[0]?.isConnected !== false) return;
      const home = path.find(({ isConnected }) => isConnected)?.closest('main *');
      const near = home?.querySelector<HTMLElement>('h2[tabindex], :is(a, button, input, select)');
      const last = before instanceof HTMLElement && before.checkVisibility() ? before : undefined;
      const next = near ?? last ?? document.querySelector<HTMLElement>('h1');
      next?.focus({ preventScroll: true });
    });
    addEventListener('focusin', onFocus);
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      removeEventListener('focusin', onFocus);
      observer.disconnect();
    };
  }, []);
}

function TokenForm() {
  const problem = connection.value === 'wrong-token' ? 'The server refused this token.' : undefined;
  return (
    <Form class="card form" onSubmit={(texts) => enterToken(texts.get('token')?.trim() ?? '')}>
      <h2>Control token</h2>
      <p>
        The server listens beyond this machine, so its control API needs a token. The server prints
        it when it starts, unless <code>--control-token</code> sets it.
      </p>
      <FormField name="token" label="Token" type="password" required problem={problem} />
      <p class="quiet">This tab keeps the token until you close it.</p>
      <button type="submit">Use this token</button>
    </Form>
  );
}

function dismiss(): void {
  notice.value = undefined;
}

function Notices() {
  const { kind, text = '', edits } = notice.value ?? {};
  useEffect(() => {
    if (kind !== 'done') return undefined;
    const timer = setInterval(() => {
      if (document.querySelector('.notices:is(:hover, :focus-within)') === null) dismiss();
    }, 6_000);
    return () => clearInterval(timer);
  }, [notice.value]);
  const shown = (
    <p class={`notice ${kind}`}>
      {visible(text)} {edits && <Button label="Undo" onClick={() => undo(edits)} />}{' '}
      <Button class="link" label="Dismiss" onClick={dismiss} />
    </p>
  );
  return (
    <div class="notices">
      <div role="status">{kind === 'done' && shown}</div>
      <div role="alert">{kind === 'failed' && shown}</div>
    </div>
  );
}

const SHORTCUTS = {
  '/': 'search',
  'j, k, ↓, ↑': 'the next older, newer exchange',
  Enter: 'open what has the focus',
  Esc: 'close what is open',
  'Ctrl+Enter': 'save a scenario and turn it on',
  '?': 'this list',
};

export function isTyping({ target, altKey, ctrlKey, metaKey }: KeyboardEvent): boolean {
  const isField = target instanceof Element && target.closest('input,select,textarea,.body,dialog');
  const isMenu = document.querySelector('[popover="auto"]:popover-open') !== null;
  return Boolean(isField) || isMenu || altKey || ctrlKey || metaKey;
}

function Shortcuts() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event)) return;
      if (event.key === '?') dialog.current?.showModal();
      if (event.key !== '/') return;
      event.preventDefault();
      document.querySelector<HTMLElement>('main input[type="search"]')?.focus();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return (
    <dialog ref={dialog} class="card" aria-label="Shortcuts">
      <h2>Shortcuts</h2>
      <dl>{Object.entries(SHORTCUTS).map(([keys, what]) => [<dt>{keys}</dt>, <dd>{what}</dd>])}</dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
