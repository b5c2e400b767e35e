import { render } from 'preact';
import { parseJson } from '../../core/json.ts';
import type { SweepReport } from '../../terminal/command.ts';
import './dashboard.css';
import { type CoverageProps, CoverageTable } from './parts/coverage.tsx';
import { Sides } from './parts/message.tsx';
import { Fold } from './parts/panel.tsx';
import { type Column, Table } from './parts/table.tsx';
import { shorten, visible } from './parts/texts.tsx';
import { plural } from './state/route.ts';
import type { ListedExchange } from './state/session.ts';
import { StatusBadge } from './views/exchange-rows.tsx';

interface Evidence extends CoverageProps {
  readonly sweep?: SweepReport;
  readonly exchanges: {
    readonly leftOut: number;
    readonly shown: readonly { readonly sandbox: string; readonly exchange: ListedExchange }[];
  };
}

/** What `report.ts` has written into the file. Bodies have int64 numbers. */
const evidence: Evidence = Object(
  parseJson(document.getElementById('evidence')?.textContent ?? ''),
);

const SWEEP_COLUMNS: readonly Column<SweepReport['rows'][number]>[] = [
  { name: 'What', cell: ({ what }) => <code>{what}</code> },
  { name: 'Change', cell: ({ change }) => <code>{change}</code> },
  {
    name: 'Verdict',
    cell: ({ verdict, isBad, detail }) => (
      <>
        <b class={`status ${isBad ? 'failed' : 'done'}`}>{verdict}</b> {visible(detail)}
      </>
    ),
  },
];

function ExchangeList({ of: { leftOut, shown } }: { readonly of: Evidence['exchanges'] }) {
  const sandboxes = [...new Set(shown.map(({ sandbox }) => sandbox))];
  return (
    <section aria-label="Exchanges">
      <h2>Exchanges</h2>
      {leftOut > 0 && <p class="quiet">{plural(leftOut, 'older one')} left out.</p>}
      {sandboxes.map((name) => (
        <Fold key={name} title={`sandbox ${name}`} opened={sandboxes.length === 1}>
          {() => {
            const own = shown.filter(({ sandbox }) => sandbox === name);
            return own.map(({ exchange }, index) => <Item key={index} of={exchange} />);
          }}
        </Fold>
      ))}
    </section>
  );
}

function Item({ of }: { readonly of: ListedExchange }) {
  const { number, method, target, why, findings } = of;
  const summary = (
    <>
      {number}. <span class="mono">{shorten(visible(`${method} ${target}`))}</span> →{' '}
      <StatusBadge {...of} /> <span class="quiet">{shorten(visible(why.join('; ')))}</span>
      {findings.map(({ code }) => (
        <span key={code} class="badge failed">
          {code}
        </span>
      ))}
    </>
  );
  return <Fold title={summary}>{() => <Sides of={of} />}</Fold>;
}

render(
  <main id="main">
    <h1>What the client was shown</h1>
    <CoverageTable {...evidence} />
    {evidence.sweep && (
      <section aria-label={evidence.sweep.title}>
        <h2>{evidence.sweep.title}</h2>
        <Table
          caption="What became of the command"
          columns={SWEEP_COLUMNS}
          rows={evidence.sweep.rows}
          keyOf={({ what, change }) => `${what} ${change}`}
        />
      </section>
    )}
    {evidence.exchanges.shown.length > 0 && <ExchangeList of={evidence.exchanges} />}
  </main>,
  document.body,
);
