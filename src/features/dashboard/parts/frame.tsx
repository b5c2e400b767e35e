import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { usePolled } from '../state/resource.ts';
import { capitalize, formatHref, go, openedTitle, route } from '../state/route.ts';
import {
  arrivals,
  connection,
  enterToken,
  lastChange,
  needsToken,
  notice,
  sandbox,
  seenExchange,
} from '../state/session.ts';
import { readStatus, status } from '../state/settings.ts';
import { Button, Confirmation, isTyping, useKeys } from './buttons.tsx';
import { Form, FormField, Submit } from './form.tsx';
import { noteStatus, Restarted, StateStrip } from './strips.tsx';
import { visible } from './texts.tsx';

/** What is observed, what shapes the replies, and what can be read. */
const GROUPS = [
  ['exchanges', 'coverage'],
  ['scenarios', 'store', 'assumptions', 'clock'],
  ['sandboxes', 'reference'],
] as const;

type ViewName = (typeof GROUPS)[number][number];

/** Short enough for a tab: 999, 1.2k. */
const { format: formatCount } = new Intl.NumberFormat('en', { notation: 'compact' });

export function Frame({ current, children }: { current: ViewName; children: ComponentChildren }) {
  usePolled('status', readStatus);
  const { value } = status;
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
    noteStatus(value);
    // A call that came before the stream was open.
    if (latest > (seenExchange.value ?? latest)) arrivals.value += 1;
  }, [value]);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (document.activeElement !== document.body) heading.current?.focus();
  }, [current]);
  const { item } = route.value;
  useEffect(() => {
    // A question and a menu are about what is no longer there.
    for (const dialog of document.querySelectorAll('dialog')) dialog.close();
    const isOpen = '[popover="auto"]:popover-open';
    for (const it of document.querySelectorAll<HTMLElement>(isOpen)) it.hidePopover();
  }, [current, item]);
  useKeptFocus();
  const { scenarios = [], assumptions = [], changed } = value ?? {};
  const counts: Partial<Record<ViewName, number | undefined>> = {
    exchanges: value?.keptExchanges,
    scenarios: scenarios.length,
    store: Object.values<number>(changed ?? {}).reduce((sum, count) => sum + count, 0),
    assumptions: assumptions.length,
  };
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <b class="brand">petstore-mock</b>
        <Button class="menu" label={title} popovertarget="views" />
        <nav id="views" popover="auto" aria-label="Views">
          {GROUPS.map((group) => (
            <span key={group[0]} class="group">
              {group.map((name) => (
                <a
                  key={name}
                  href={formatHref(name)}
                  aria-current={name === current && 'page'}
                  data-count={counts[name] ? formatCount(counts[name]) : undefined}
                >
                  {capitalize(name)}
                </a>
              ))}
            </span>
          ))}
        </nav>
        {!needsToken.value && (
          <a class="switcher" href={formatHref('sandboxes')} aria-label={`Sandbox ${sandbox}`}>
            <span class="quiet">Sandbox</span> <b>{sandbox}</b>
          </a>
        )}
        <Shortcuts />
      </header>
      <StateStrip />
      {connection.value === 'lost' && (
        <p class="lost problem" role="alert">
          The server does not answer. This page tries again every second.
        </p>
      )}
      <Restarted />
      <main id="main" tabIndex={-1}>
        <h1 class={current === 'exchanges' ? 'unseen' : ''} ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {needsToken.value ? <TokenForm /> : children}
      </main>
      <Foot />
      <Confirmation />
    </>
  );
}

/** An action can remove what has the focus: then it goes to what is near, not to the body. */
function useKeptFocus(): void {
  useEffect(() => {
    let path: readonly Element[] = [];
    let before: Element | undefined;
    const onFocus = (event: FocusEvent) => {
      const [last] = path;
      if (last !== undefined && last.closest('footer, dialog') === null) before = last;
      path = event.composedPath().filter((it) => it instanceof Element);
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
      <Submit label="Use this token" />
    </Form>
  );
}

/** What the last actions did, where it covers no row. */
function Foot() {
  const { kind, undo } = notice.value ?? {};
  useEffect(() => {
    if (kind !== 'done') return undefined;
    const timer = setInterval(() => {
      if (document.querySelector('.notice:is(:hover, :focus-within)') === null)
        notice.value = undefined;
    }, 6_000);
    return () => clearInterval(timer);
  }, [notice.value]);
  return (
    <footer>
      <div role="status">
        {!undo && <Told by={lastChange} />}
        {kind === 'done' && <Told by={notice} />}
      </div>
      <div role="alert">{kind === 'failed' && <Told by={notice} />}</div>
    </footer>
  );
}

function Told({ by }: { readonly by: typeof notice }) {
  if (by.value === undefined) return null;
  const { kind, text, undo, link } = by.value;
  return (
    <p class={`notice bar ${kind}`}>
      {visible(text)} {link && <a href={link[1]}>{link[0]}</a>}{' '}
      {undo && <Button label="Undo" onClick={undo} />}{' '}
      {(undo || kind === 'failed') && (
        <Button
          class="link"
          label="Dismiss"
          onClick={() => {
            by.value = undefined;
          }}
        />
      )}
    </p>
  );
}

const SHORTCUTS = {
  '/': 'search',
  [`1 to ${GROUPS.flat().length}`]: 'a view, in the order of the menu',
  'j, k, ↓, ↑': 'the next older, newer exchange, or its row if none is open',
  Enter: 'open what has the focus',
  Esc: 'close what is open',
  'Ctrl+Enter': 'save a scenario and turn it on',
  '?': 'this list',
};

function Shortcuts() {
  useKeys((event) => {
    if (isTyping(event)) return;
    const view = GROUPS.flat()[Number(event.key) - 1];
    if (view !== undefined) go(view);
    if (event.key === '?')
      document.querySelector<HTMLElement>('[popovertarget="shortcuts"]')?.click();
    if (event.key !== '/') return;
    event.preventDefault();
    document.querySelector<HTMLElement>('main input[type="search"]')?.focus();
  });
  return (
    <>
      <Button label="?" aria-label="Shortcuts" popovertarget="shortcuts" />
      <div id="shortcuts" popover="auto" class="menu-list" role="dialog" aria-label="Shortcuts">
        <dl>
          {Object.entries(SHORTCUTS).map(([keys, what]) => [<dt>{keys}</dt>, <dd>{what}</dd>])}
        </dl>
      </div>
    </>
  );
}
