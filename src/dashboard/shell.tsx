import type { ComponentType } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Notices } from './parts/notices.tsx';
import { SandboxPicker } from './parts/sandbox-picker.tsx';
import { TokenForm } from './parts/token-form.tsx';
import { hrefOf, place, VIEWS, type ViewName } from './state/place.ts';
import { connection, sandbox } from './state/session.ts';
import { AssumptionsView } from './views/assumptions-view.tsx';
import { ClockView } from './views/clock-view.tsx';
import { CoverageView } from './views/coverage-view.tsx';
import { ExchangesView } from './views/exchanges-view.tsx';
import { SandboxesView } from './views/sandboxes-view.tsx';
import { ScenariosView } from './views/scenarios-view.tsx';
import { StoreView } from './views/store-view.tsx';

const TITLES: Readonly<Record<ViewName, string>> = {
  exchanges: 'Exchanges',
  scenarios: 'Scenarios',
  store: 'Store',
  assumptions: 'Assumptions',
  clock: 'Clock',
  coverage: 'Coverage',
  sandboxes: 'Sandboxes',
};

const COMPONENTS: Readonly<Record<ViewName, ComponentType>> = {
  exchanges: ExchangesView,
  scenarios: ScenariosView,
  store: StoreView,
  assumptions: AssumptionsView,
  clock: ClockView,
  coverage: CoverageView,
  sandboxes: SandboxesView,
};

/**
 * The frame around every view: the current place, the other views, and the state of the connection.
 */
export function Shell() {
  const { view } = place.value;
  const asksForToken = connection.value === 'no-token' || connection.value === 'wrong-token';
  useEffect(() => {
    document.title = `${TITLES[view]} · ${sandbox} · petstore-mock`;
  }, [view]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <span class="brand">petstore-mock</span>
        {!asksForToken && <SandboxPicker />}
        <nav aria-label="Views">
          {VIEWS.map((name) => (
            <a key={name} href={hrefOf(name)} aria-current={name === view ? 'page' : undefined}>
              {TITLES[name]}
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
        {asksForToken ? <TokenForm /> : <View name={view} />}
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
        {TITLES[name]}
      </h1>
      <Component />
    </>
  );
}
