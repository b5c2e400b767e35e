import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { SandboxStatus } from '../../control/control-shapes.ts';
import { hrefOf, titleOf, VIEWS, type ViewName } from '../state/place.ts';
import { OFTEN, useResource } from '../state/resource.ts';
import { connection, needsToken, sandbox } from '../state/session.ts';
import { Button } from './buttons.tsx';
import { Notices } from './notices.tsx';
import { SandboxSwitcher } from './sandbox-switcher.tsx';
import { StateStrip } from './state-strip.tsx';
import { TokenForm } from './token-form.tsx';

interface FrameProps {
  readonly current: ViewName | 'docs';
  readonly title: string;
  readonly children: ComponentChildren;
}

/** What surrounds every view: the way to the others, the sandbox, and what is not as at the start. */
export function Frame({ current, title, children }: FrameProps) {
  const status = useResource<SandboxStatus>('/status', OFTEN);
  const unseen = useUnseen(status.value?.latestExchange ?? 0);
  useEffect(() => {
    const count = unseen > 0 ? `(${unseen.toLocaleString('en')}) ` : '';
    document.title = `${count}${title} · ${sandbox} · petstore-mock`;
  }, [title, unseen]);
  const menu = useRef<HTMLElement>(null);
  useEffect(() => {
    if (menu.current?.matches(':popover-open')) menu.current.hidePopover();
  }, [current]);
  // The reference has a <main> of its own.
  const Main = current === 'docs' && !needsToken.value ? 'div' : 'main';
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <span class="brand">petstore-mock</span>
        <Button class="menu" popovertarget="views">
          {title} <span aria-hidden="true">▾</span>
        </Button>
        <nav id="views" popover="auto" aria-label="Views" ref={menu}>
          {VIEWS.map((name) => (
            <a
              key={name}
              href={current === 'docs' ? `./${hrefOf(name)}` : hrefOf(name)}
              aria-current={name === current ? 'page' : undefined}
            >
              {titleOf(name)}
            </a>
          ))}
          <a href="docs" aria-current={current === 'docs' ? 'page' : undefined}>
            API reference
          </a>
        </nav>
        {!needsToken.value && <SandboxSwitcher />}
      </header>
      {status.value !== undefined && <StateStrip status={status.value} />}
      {connection.value === 'lost' && (
        <p class="banner" role="alert">
          The server does not answer. This page tries again every second.
        </p>
      )}
      <Main id="main" tabIndex={-1}>
        {needsToken.value ? <TokenForm /> : children}
      </Main>
      <Notices />
    </>
  );
}

/** How many exchanges came since the page was last visible. */
function useUnseen(latest: number): number {
  const seen = useRef(latest);
  if (!document.hidden) seen.current = latest;
  return Math.max(0, latest - seen.current);
}
