import { render } from 'preact';
import './dashboard.css';
import { type CoverageLinks, type CoverageProps, CoverageTable } from './parts/coverage.tsx';

const LINKS: CoverageLinks = {
  exchange: ({ sandbox, exchange }) => (
    <code>
      {sandbox} #{exchange}
    </code>
  ),
  ground: (ground) => <code>{ground}</code>,
};

/** What `report.ts` has written into the file. */
const evidence: Omit<CoverageProps, 'links'> = JSON.parse(
  document.getElementById('evidence')?.textContent ?? '',
);

render(
  <main id="main">
    <h1>What the client was shown</h1>
    <CoverageTable {...evidence} links={LINKS} />
  </main>,
  document.body,
);
