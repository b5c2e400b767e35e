import type { ReplyOf } from '../../../client/control-client.ts';
import {
  OPERATION_IDS,
  type OperationId,
  operationShape,
} from '../../../core/contract/operations.ts';
import { Button, copy } from '../parts/buttons.tsx';
import { Loading, Panel } from '../parts/panel.tsx';
import { column, Table } from '../parts/table.tsx';
import { Prose, plural, shorten, visible } from '../parts/texts.tsx';
import { FIRST_REQUEST, formatCurlCommand, type Request, sendAndOpen } from '../state/requests.ts';
import { usePolled } from '../state/resource.ts';
import { formatHref, go, route } from '../state/route.ts';
import { client, type ListedFinding, servicePath } from '../state/session.ts';

type Coverage = ReplyOf<'GET /coverage'>;
type CoveredReply = Coverage['documented'][number];

interface Covered extends CoveredReply {
  readonly basis: 'documented' | 'assumed';
}

export function CoverageView() {
  const coverage = usePolled('coverage', (signal) => client.call('GET /coverage', { signal }));
  if (coverage.value === undefined) return <Loading of={coverage} />;
  const { totals, documented, assumed } = coverage.value;
  const replies = [
    ...documented.map((reply): Covered => ({ ...reply, basis: 'documented' })),
    ...assumed.map((reply): Covered => ({ ...reply, basis: 'assumed' })),
  ];
  const { item = '' } = route.value;
  const opened = replies.filter((reply) => cellId(reply) === item);
  const format = ({ shown, total }: { shown: number; total: number }) => `${shown} of ${total}`;
  return (
    <div class={opened.length === 0 ? '' : 'split'}>
      <div>
        <p>
          Shown: {format(totals.documented)} documented replies, {format(totals.assumed)} assumed
          replies.
        </p>
        <Matrix replies={replies} />
        {opened.length === 0 && (
          <p class="quiet">Choose a reply in the table to see how to get it.</p>
        )}
        <FindingList />
      </div>
      {opened.length > 0 && (
        <Panel
          key={item}
          title={item.replace('-', ' ')}
          onClose={() => go('coverage')}
          of={{ value: opened }}
        >
          {(shown) =>
            shown.map((reply) => (
              <ReplyCard key={reply.basis + reply.grounds} of={reply} twins={shown.length - 1} />
            ))
          }
        </Panel>
      )}
    </div>
  );
}

function cellId({ operation, status }: Pick<CoveredReply, 'operation' | 'status'>): string {
  return `${operation}-${status}`;
}

interface CellProps {
  readonly id: string;
  readonly replies: readonly Covered[];
}

function Cell({ id, replies }: CellProps) {
  const own = replies.filter((reply) => cellId(reply) === id);
  const marks = (['documented', 'assumed'] as const).flatMap((basis) => {
    const counts = own.filter((reply) => reply.basis === basis).map(({ count }) => count);
    if (counts.length === 0) return [];
    const count = counts.reduce((sum, one) => sum + one);
    const missing = basis === 'documented' ? 'failed' : 'quiet';
    return [{ basis, text: count.toLocaleString('en'), style: count === 0 ? missing : basis }];
  });
  if (marks.length === 0) return null;
  return (
    <a href={formatHref('coverage', id)} aria-current={route.value.item === id}>
      <span class="unseen">{id.replace('-', ' ')}:</span>
      {marks.map(({ basis, text, style }) => (
        <span key={basis} class={`cell ${style}`}>
          <span class="unseen"> {basis} shown </span>
          {text}
          <span class="unseen"> times </span>
        </span>
      ))}
    </a>
  );
}

const LEGEND = {
  documented: 'documented, shown',
  failed: 'documented, never shown',
  assumed: 'assumed, shown',
  quiet: 'assumed, never shown',
};

function Matrix({ replies }: Pick<CellProps, 'replies'>) {
  const statuses = [...new Set(replies.map(({ status }) => status))].sort((a, b) => a - b);
  const columns = statuses.map((status) =>
    column<OperationId>(String(status), (operation) => (
      <Cell id={cellId({ operation, status })} replies={replies} />
    )),
  );
  return (
    <>
      <Table
        caption="How often each reply was shown"
        columns={[column('Operation', String, 'operation'), ...columns]}
        rows={OPERATION_IDS}
        keyOf={(operation) => operation}
      />
      <p class="bar quiet">
        {Object.entries(LEGEND).map(([style, text]) => (
          <span key={style} class={`cell ${style}`}>
            {text}
          </span>
        ))}
      </p>
    </>
  );
}

interface ReplyCardProps {
  readonly of: Covered;
  readonly twins: number;
}

function ReplyCard({ of, twins }: ReplyCardProps) {
  const { operation, status, basis, description, grounds, curl, count } = of;
  const { method, path } = operationShape(operation);
  const isRefused = status === 401;
  const request: Request = {
    method,
    target: servicePath + path.replaceAll(/\{\w+\}/g, '1'),
    key: isRefused ? '' : FIRST_REQUEST.key,
    headers: isRefused ? [] : [['Prefer', `code=${status}`]],
  };
  const only = twins > 0 ? ` ${basis === 'assumed' ? '' : '-'}basis:assumed` : '';
  // A reply to HEAD does not count.
  const get = method === 'GET' ? ' -method:HEAD' : '';
  const search = `operation:${operation} status:${status}${only}${get}`;
  // `Prefer` asks for the status, not for what an assumption makes of a call.
  const isSent = curl !== undefined && !(twins > 0 && basis === 'assumed');
  return (
    <section aria-label={`${operation} ${status}, ${basis}`}>
      <p>
        <span class={`badge ${basis}`}>{basis}</span> <Count of={of} />
      </p>
      <p>
        {grounds.length > 0 && 'Decided by '}
        {grounds.map((ground) => (
          <a key={ground} href={formatHref('assumptions', ground.split('=', 1)[0])}>
            {ground}{' '}
          </a>
        ))}
        {(twins === 0 || basis === 'documented') && description}
      </p>
      {isSent && <pre class="body">{formatCurlCommand(request)}</pre>}
      {isSent && !isRefused && (
        <p class="quiet">
          A reply that <code>Prefer</code> forces does not count as shown.
        </p>
      )}
      <div class="bar">
        {isSent && (
          <>
            <Button class="main" label="Send now" onClick={() => sendAndOpen(request)} />
            <Button label="Copy as curl" onClick={() => copy(formatCurlCommand(request))} />
          </>
        )}
        <a href={formatHref('exchanges', 'rule', { of: cellId(of) })}>Draft a rule</a>
        {count > 0 && (
          <a href={formatHref('exchanges', undefined, { search })}>Calls that got it</a>
        )}
      </div>
    </section>
  );
}

function Count({ of: { count, first } }: { readonly of: CoveredReply }) {
  if (count === 0) return <b class="status failed">never</b>;
  return (
    <>
      <b class="status done">{count}×</b>{' '}
      {first !== undefined && (
        <a href={formatHref('exchanges', first.exchange)}>first in exchange {first.exchange}</a>
      )}
    </>
  );
}

function FindingList() {
  const list = usePolled('findings', (signal) => client.call('GET /findings', { signal }));
  if (list.value === undefined) return <Loading of={list} />;
  const { findings, counts, total } = list.value;
  return (
    <section aria-label="Findings">
      <h2>Findings</h2>
      {total === 0 && (
        <p class="empty">
          None so far. They name what a client should not do against the real service, such as to
          send unknown fields or to retry too fast, and come with its calls.
        </p>
      )}
      {Object.entries(counts).map(([code, count = 0]) => {
        const ofKind = findings.filter((finding) => finding.code === code);
        return (
          <article key={code} class="card">
            <h3>
              {code} <span class="quiet">({plural(count, 'time')})</span>
            </h3>
            <p>{visible(ofKind[0]?.advice ?? '')}</p>
            <FindingItems of={ofKind} />
          </article>
        );
      })}
    </section>
  );
}

export function FindingItems({ of }: { readonly of: readonly ListedFinding[] }) {
  return (
    <ul>
      {of.slice(-5).map(({ exchange, message }) => (
        <li key={exchange}>
          <a href={formatHref('exchanges', exchange)}>Exchange {exchange}</a>:{' '}
          <Prose text={shorten(visible(message), 300)} />
        </li>
      ))}
    </ul>
  );
}
