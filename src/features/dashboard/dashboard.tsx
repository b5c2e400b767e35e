import { type ComponentType, render } from 'preact';
import { isRowName } from '../../core/tables.ts';
import { Links } from './parts/coverage.tsx';
import { Frame } from './parts/frame.tsx';
import { useEvents } from './state/resource.ts';
import { route } from './state/route.ts';
import { AssumptionsView } from './views/assumptions-view.tsx';
import { ClockView } from './views/clock-view.tsx';
import { CoverageView, PAGE_LINKS } from './views/coverage-view.tsx';
import { ExchangesView } from './views/exchanges-view.tsx';
import { ReferenceView } from './views/reference-view.tsx';
import { SandboxesView } from './views/sandboxes-view.tsx';
import { ScenariosView } from './views/scenarios-view.tsx';
import { StoreView } from './views/store-view.tsx';

const VIEWS = {
  exchanges: ExchangesView,
  scenarios: ScenariosView,
  store: StoreView,
  assumptions: AssumptionsView,
  clock: ClockView,
  coverage: CoverageView,
  sandboxes: SandboxesView,
  reference: ReferenceView,
};

function Dashboard() {
  const { view } = route.value;
  const current = isRowName(VIEWS, view) ? view : 'exchanges';
  useEvents();
  const View: ComponentType = VIEWS[current];
  return (
    <Frame current={current}>
      <Links.Provider value={PAGE_LINKS}>
        {current === view ? <View /> : <p>There is no view “{view}” here. Choose one above.</p>}
      </Links.Provider>
    </Frame>
  );
}

render(<Dashboard />, document.body);
