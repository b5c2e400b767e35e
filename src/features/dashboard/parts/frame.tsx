import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { undo, usePolled } from '../state/resource.ts';
import { capitalize, formatHref, openedTitle, route } from '../state/route.ts';
import {
  client,
  connection,
  enterToken,
  type ListedEdit,
  needsToken,
  notice,
  sandbox,
} from '../state/session.ts';
import { Button, Confirmation } from './buttons.tsx';
import { Form, FormField } from './form.tsx';
import { HoldStrip, StateStrip } from './strips.tsx';
import { visible } from './texts.tsx';

interface FrameProps {
  readonly views: readonly string[];
  readonly current: string;
  readonly children: ComponentChildren;
}

export function Frame({ views, current, children }: FrameProps) {
  const { value: status } = usePolled('status', (signal) => client.call('GET /status', { signal }));
  const title = capitalize(current);
  const latest = status?.latestExchange ?? 0;
  const seen = useRef(latest);
  if (!document.hidden) seen.current = latest;
  const unseen = Math.max(0, latest - seen.current);
  useEffect(() => {
    const count = unseen > 0 ? `(${unseen.toLocaleString('en')}) ` : '';
    document.title = `${count}${openedTitle.value ?? title} · ${sandbox} · petstore-mock`;
  }, [title, openedTitle.value, unseen]);
  const menu = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (menu.current?.matches(':popover-open')) menu.current.hidePopover();
    if (document.activeElement !== document.body) heading.current?.focus();
  }, [current]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <b class="brand">petstore-mock</b>
        <Button class="menu" label={title} popovertarget="views" />
        <nav id="views" popover="auto" aria-label="Views" ref={menu}>
          {views.map((name) => (
            <a key={name} href={formatHref(name)} aria-current={name === current && 'page'}>
              {capitalize(name)}
            </a>
          ))}
        </nav>
        {!needsToken.value && (
          <a class="switcher" href={formatHref('sandboxes')} aria-label={`Sandbox ${sandbox}`}>
            <span class="quiet">Sandbox</span> <b>{sandbox}</b>
          </a>
        )}
      </header>
      {status !== undefined && <StateStrip {...status} />}
      {status !== undefined && status.held > 0 && <HoldStrip now={status.clock.now} />}
      {connection.value === 'lost' && (
        <p class="lost problem" role="alert">
          The server does not answer. This page tries again every second.
        </p>
      )}
      <main id="main" tabIndex={-1}>
        <h1 class="unseen" ref={heading} tabIndex={-1}>
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

/** Takes the action back. The button goes, and the focus with it. */
async function takeBack(edits: readonly ListedEdit[]): Promise<void> {
  await undo(edits);
  document.getElementById('main')?.focus();
}

function Notices() {
  const { view } = route.value;
  const { kind, text = '', edits } = notice.value ?? {};
  useEffect(() => {
    if (notice.value?.kind === 'failed') dismiss();
  }, [view]);
  useEffect(() => {
    if (kind !== 'done') return undefined;
    const timer = setInterval(() => {
      if (document.querySelector('.notices:is(:hover, :focus-within)') === null) dismiss();
    }, 20_000);
    return () => clearInterval(timer);
  }, [notice.value]);
  const shown = (
    <p class={`notice ${kind}`}>
      {visible(text)} {edits && <Button label="Undo" onClick={() => takeBack(edits)} />}{' '}
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
