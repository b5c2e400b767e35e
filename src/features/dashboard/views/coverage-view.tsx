import { rowNames } from '../../../core/tables.ts';
import { Button, copy } from '../parts/buttons.tsx';
import {
  type CoverageLinks,
  CoverageTable,
  type Covered,
  cellId,
  isAskedFor,
} from '../parts/coverage.tsx';
import { Loading } from '../parts/panel.tsx';
import { exampleRequest, sendAndOpen } from '../state/requests.ts';
import { usePolled } from '../state/resource.ts';
import { formatHref } from '../state/route.ts';
import { client, sandbox } from '../state/session.ts';

export const PAGE_LINKS: CoverageLinks = {
  exchange: ({ exchange }) => <a href={formatHref('exchanges', exchange)}>Exchange {exchange}</a>,
  ground: (ground) => <a href={formatHref('assumptions', ground.split('=', 1)[0])}>{ground}</a>,
  actions: (of) => <Actions of={of} />,
};

export function CoverageView() {
  const coverage = usePolled('coverage', (signal) => client.call('GET /coverage', { signal }));
  const findings = usePolled('findings', readFindings);
  if (coverage.value === undefined) return <Loading of={coverage} />;
  return <CoverageTable coverage={coverage.value} findings={findings.value} />;
}

/** Those of the latest calls that the journal still has: a link to another leads nowhere. */
async function readFindings(signal: AbortSignal) {
  const report = await client.call('GET /findings', { signal });
  const found = rowNames(report.counts).map(async (code) => {
    const query = { search: `finding:${code}`, limit: 5 };
    const { exchanges } = await client.call('GET /requests', { query, signal });
    const kept = exchanges.flatMap(({ number, method, target, at, findings }) =>
      findings.map((finding) => ({ ...finding, sandbox, exchange: number, method, target, at })),
    );
    return (kept.length > 0 ? kept : report.findings).filter((finding) => finding.code === code);
  });
  return { ...report, findings: (await Promise.all(found)).flat() };
}

function Actions({ of }: { readonly of: Covered }) {
  const { operation, status, basis, curl = '', count, twins } = of;
  const example = exampleRequest(operation);
  const headers = [...example.headers, ['Prefer', `code=${status}`] as const];
  const request = status === 401 ? { ...example, key: '' } : { ...example, headers };
  const only = twins > 0 ? ` ${basis === 'assumed' ? '' : '-'}basis:assumed` : '';
  // A reply to HEAD does not count.
  const get = example.method === 'GET' ? ' -method:HEAD' : '';
  const search = `operation:${operation} status:${status}${only}${get} -is:manual`;
  return (
    <div class="bar">
      {isAskedFor(of) && (
        <>
          <Button class="main" label="Send now" onClick={() => sendAndOpen(request)} />
          <Button label="Copy as curl" onClick={() => copy(curl)} />
        </>
      )}
      <a href={formatHref('exchanges', 'rule', { of: cellId(of) })}>Draft a rule</a>
      {count > 0 && <a href={formatHref('exchanges', undefined, { search })}>Calls that got it</a>}
    </div>
  );
}
