import type { ComponentType } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Notices } from './parts/notices.tsx';
import { SandboxPicker } from './parts/sandbox-picker.tsx';
import { TokenForm } from './parts/token-form.tsx';
import { hrefOf, place, VIEWS, type ViewName } from './state/place.ts';
import { connection, needsToken, sandbox } from './state/session.ts';
import { AssumptionsView } from './views/assumptions-view.tsx';
import { ClockView } from './views/clock-view.tsx';
import { CoverageView } from './views/coverage-view.tsx';
import { ExchangesView } from './views/exchanges-view.tsx';
import { SandboxesView } from './views/sandboxes-view.tsx';
import { ScenariosView } from './views/scenarios-view.tsx';
import { StoreView } from './views/store-view.tsx';

const COMPONENTS: Readonly<Record<ViewName, ComponentType>> = {
  exchanges: ExchangesView,
  scenarios: ScenariosView,
  store: StoreView,
  assumptions: AssumptionsView,
  clock: ClockView,
  coverage: CoverageView,
  sandboxes: SandboxesView,
};

function titleOf(name: ViewName): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/**
 * The frame around every view: the current place, the other views, and the state of the connection.
 */
export function Shell() {
  const { view } = place.value;
  useEffect(() => {
    document.title = `${titleOf(view)} · ${sandbox} · petstore-mock`;
  }, [view]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <span class="brand">petstore-mock</span>
        {!needsToken.value && <SandboxPicker />}
        <nav aria-label="Views">
          {VIEWS.map((name) => (
            <a key={name} href={hrefOf(name)} aria-current={name === view ? 'page' : undefined}>
              {titleOf(name)}
            </a>
          ))}
          <a href="docs">API reference</a>
        </nav>
      </header>
      {connection.value === 'lost' && (
        <p class="banner" role="alert">
          The server does not answer. This page tries again every second.
        </p>
      )}
      <main id="main" tabIndex={-1}>
        {needsToken.value ? <TokenForm /> : <View name={view} />}
      </main>
      <Notices />
    </>
  );
}

/** A view under its heading, which gets the focus when the view changes. */
function View({ name }: { readonly name: ViewName }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const first = useRef(true);
  useEffect(() => {
    if (!first.current) heading.current?.focus();
    first.current = false;
  }, [name]);
  const Component = COMPONENTS[name];
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {titleOf(name)}
      </h1>
      <Component />
    </>
  );
}
