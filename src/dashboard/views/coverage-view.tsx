import type { ReplyOf } from '../../client/control-client.ts';
import { OPERATION_IDS, type OperationId, operationShape } from '../../contract/operations.ts';
import { Button, CopyButton } from '../parts/buttons.tsx';
import { Panel } from '../parts/panel.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Loading, Prose, plural, shorten, visible } from '../parts/texts.tsx';
import { formatHref, go, place } from '../state/place.ts';
import { FIRST_REQUEST, formatCurlCommand, type Request, sendAndOpen } from '../state/requests.ts';
import { POLL_INTERVAL_MS, useResource } from '../state/resource.ts';
import { client, type Finding, servicePath } from '../state/session.ts';

type Coverage = ReplyOf<'GET /coverage'>;
type DocumentedReply = Coverage['documented'][number];
type CaseCoverage = Coverage['cases'][number];

export function CoverageView() {
  const coverage = useResource(
    'coverage',
    (signal) => client.call('GET /coverage', { signal }),
    POLL_INTERVAL_MS,
  );
  if (coverage.value === undefined) return <Loading resource={coverage} />;
  const { totals, documented, cases, assumed } = coverage.value;
  const { item = '' } = place.value;
  const opened = [...documented, ...assumed].filter((reply) => cardId(reply) === item);
  return (
    <div class={opened.length === 0 ? '' : 'split'}>
      <div>
        <div class="bar">
          {Object.entries({
            'documented replies': totals.documented,
            'cases within them': totals.cases,
            'assumed replies': totals.assumed,
          }).map(([label, { shown, total }]) => (
            <p key={label} class="card tile">
              <b>{shown}</b> of {total} {label}
              <progress value={shown} max={total} aria-label={label} />
            </p>
          ))}
        </div>
        <Matrix {...{ documented, assumed }} />
        {opened.length === 0 && (
          <p class="quiet">Choose a reply in the table to see how to get it.</p>
        )}
        <FindingList />
      </div>
      {opened.length > 0 && (
        <Panel
          key={item}
          title={item.replace('-', ' ')}
          close="Close"
          onClose={() => go('coverage')}
        >
          {opened.map((reply) => (
            <ReplyCard
              key={reply.grounds.join()}
              of={reply}
              cases={documented.includes(reply) ? cases.filter((one) => cardId(one) === item) : []}
              isTwin={opened.length > 1}
              basis={documented.includes(reply) ? 'documented' : 'assumed'}
            />
          ))}
        </Panel>
      )}
    </div>
  );
}

function cardId({ operation, status }: Pick<DocumentedReply, 'operation' | 'status'>): string {
  return `${operation}-${status}`;
}

function Matrix({ documented, assumed }: Pick<Coverage, 'documented' | 'assumed'>) {
  const replies = [...documented, ...assumed];
  const statuses = [...new Set(replies.map(({ status }) => status))].sort((a, b) => a - b);
  const cellOf = (operation: OperationId, status: number) => {
    const id = cardId({ operation, status });
    const own = replies.filter((reply) => cardId(reply) === id);
    if (own.length === 0) return null;
    const prescribed = documented.find((reply) => own.includes(reply));
    const count = own.reduce((sum, reply) => sum + reply.count, 0);
    const missing = prescribed === undefined ? 'quiet' : 'failed';
    const shown = (prescribed?.count ?? 0) === 0 ? 'assumed' : 'documented';
    return (
      <a
        class={`cell ${count === 0 ? missing : shown}`}
        href={formatHref('coverage', id)}
        aria-current={place.value.item === id ? 'true' : undefined}
        aria-label={`${operation} ${status}: shown ${count.toLocaleString('en')} times`}
      >
        {count.toLocaleString('en')}
      </a>
    );
  };
  const columns: readonly Column<OperationId>[] = [
    {
      name: 'Operation',
      class: 'operation',
      cell: (operation) => (
        <>
          {operation}
          <div class="quiet mono">
            {operationShape(operation).method} {operationShape(operation).path}
          </div>
        </>
      ),
    },
    ...statuses.map((status) => ({
      name: String(status),
      class: 'times',
      cell: (operation: OperationId) => cellOf(operation, status),
    })),
  ];
  return (
    <>
      <Table
        caption="How often each reply was shown"
        columns={columns}
        rows={OPERATION_IDS}
        keyOf={(operation) => operation}
      />
      <p class="bar quiet">
        <span class="cell documented">documented, shown</span>
        <span class="cell failed">documented, never shown</span>
        <span class="cell assumed">assumed, shown</span>
        <span class="cell">assumed, never shown</span>
      </p>
    </>
  );
}

interface ReplyCardProps {
  readonly of: DocumentedReply;
  readonly basis: 'documented' | 'assumed';
  readonly isTwin: boolean;
  readonly cases: readonly CaseCoverage[];
}

function ReplyCard({ of, basis, cases, isTwin }: ReplyCardProps) {
  const { operation, status, description, grounds, curl, count } = of;
  const { method, path } = operationShape(operation);
  const isRefused = status === 401;
  const request: Request = {
    ...{ method, target: servicePath + path.replaceAll(/\{\w+\}/g, '1') },
    key: isRefused ? '' : FIRST_REQUEST.key,
    headers: isRefused ? [] : [['Prefer', `code=${status}`]],
  };
  const only = isTwin ? ` ${basis === 'assumed' ? '' : '-'}basis:assumed` : '';
  // A reply to HEAD does not count.
  const get = method === 'GET' ? ' -method:HEAD' : '';
  const search = `operation:${operation} status:${status}${only}${get}`;
  return (
    <section aria-label={`${operation} ${status}, ${basis}`}>
      <p>
        <span class={`badge ${basis}`}>{basis}</span> <Count of={of} />
      </p>
      <p>
        {description}{' '}
        {grounds.map((ground) => (
          <a key={ground} href={formatHref('assumptions', ground.split('=', 1)[0])}>
            {ground}{' '}
          </a>
        ))}
      </p>
      {curl !== undefined && <pre class="body">{formatCurlCommand(request)}</pre>}
      <div class="bar">
        {curl !== undefined && (
          <>
            <Button class="main" onClick={() => sendAndOpen(request)}>
              Send now
            </Button>
            <CopyButton label="Copy as curl" text={() => formatCurlCommand(request)} />
          </>
        )}
        <a href={formatHref('exchanges', 'rule', { of: cardId(of) })}>Draft a rule</a>
        {count > 0 && (
          <a href={formatHref('exchanges', undefined, { search })}>Calls that got it</a>
        )}
      </div>
      <ul class="rows">
        {cases.map((one) => (
          <li key={one.id}>
            <Count of={one} /> <span class="grow">{one.sentence}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Count({ of: { count, first } }: { readonly of: DocumentedReply | CaseCoverage }) {
  if (count === 0) return <b class="status failed">never</b>;
  return (
    <>
      <b class="status done">{count}×</b>{' '}
      {first !== undefined && (
        <a href={formatHref('exchanges', String(first.exchange))}>
          first in exchange {first.exchange}
        </a>
      )}
    </>
  );
}

function FindingList() {
  const list = useResource(
    'findings',
    (signal) => client.call('GET /findings', { signal }),
    POLL_INTERVAL_MS,
  );
  if (list.value === undefined) return <Loading resource={list} />;
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
        const ofKind = findings.filter((it) => it.code === code);
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

export function FindingItems({ of }: { readonly of: readonly Finding[] }) {
  return (
    <ul>
      {of.slice(-5).map(({ exchange, message }) => (
        <li key={exchange}>
          <a href={formatHref('exchanges', String(exchange))}>Exchange {exchange}</a>:{' '}
          <Prose text={shorten(visible(message), 300)} />
        </li>
      ))}
    </ul>
  );
}
