import { type ComponentType, render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Frame } from './parts/frame.tsx';
import { formatTitle, place, type ViewName } from './state/place.ts';
import { useEvents } from './state/resource.ts';
import { AssumptionsView } from './views/assumptions-view.tsx';
import { ClockView } from './views/clock-view.tsx';
import { CoverageView } from './views/coverage-view.tsx';
import { ExchangesView } from './views/exchanges-view.tsx';
import { ReferenceView } from './views/reference-view.tsx';
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
  reference: ReferenceView,
};

function Shell() {
  const { view } = place.value;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (document.activeElement !== document.body) heading.current?.focus();
  }, [view]);
  useEvents();
  const Component = COMPONENTS[view];
  return (
    <Frame current={view} title={formatTitle(view)}>
      <h1 class="unseen" ref={heading} tabIndex={-1}>
        {formatTitle(view)}
      </h1>
      <Component />
    </Frame>
  );
}

render(<Shell />, document.body);
