import type { ComponentChildren } from 'preact';
import type { ReplyOf } from '../../../client/control-client.ts';
import { OPERATION_IDS, type OperationId } from '../../../core/contract/operations.ts';
import { formatHref, go, plural, route } from '../state/route.ts';
import { Panel } from './panel.tsx';
import { column, Rows, Table } from './table.tsx';
import { Prose, shorten, visible } from './texts.tsx';

type Coverage = ReplyOf<'GET /coverage'>;
type Findings = ReplyOf<'GET /findings'>;
type ListedFinding = Findings['findings'][number];
type CoveredReply = Coverage['documented'][number];

export interface Covered extends CoveredReply {
  readonly basis: 'documented' | 'assumed';
  /** How many others have its operation and its status. */
  readonly twins: number;
}

/** What a page with a server behind it adds to what a report says, too. */
export interface CoverageLinks {
  readonly exchange: (of: {
    readonly sandbox: string;
    readonly exchange: number;
  }) => ComponentChildren;
  readonly ground: (ground: string) => ComponentChildren;
  readonly actions?: (of: Covered) => ComponentChildren;
}

export interface CoverageProps {
  readonly coverage: Coverage;
  readonly findings: Findings | undefined;
  readonly links: CoverageLinks;
}

/** What the client was shown, and what it did that it should not do. */
export function CoverageTable({ coverage, findings, links }: CoverageProps) {
  const { totals, documented, assumed } = coverage;
  const all = [
    ...documented.map((reply) => ({ ...reply, basis: 'documented' as const })),
    ...assumed.map((reply) => ({ ...reply, basis: 'assumed' as const })),
  ];
  const replies = all.map((reply): Covered => {
    const twins = all.filter((other) => cellId(other) === cellId(reply)).length - 1;
    return { ...reply, twins };
  });
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
        {findings && <FindingList of={findings} links={links} />}
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
              <ReplyCard key={reply.basis + reply.grounds} of={reply} links={links} />
            ))
          }
        </Panel>
      )}
    </div>
  );
}

export function cellId({ operation, status }: Pick<CoveredReply, 'operation' | 'status'>): string {
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
          <span class="unseen"> {text === '1' ? 'time' : 'times'} </span>
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

/** Whether a request with `Prefer` can get it: that asks for a status, not for what an assumption makes. */
export function isAskedFor({ curl, twins, basis }: Covered): boolean {
  return curl !== undefined && !(twins > 0 && basis === 'assumed');
}

function ReplyCard({ of, links }: { readonly of: Covered; readonly links: CoverageLinks }) {
  const { operation, status, basis, description, grounds, curl, count, first, twins } = of;
  return (
    <section aria-label={`${operation} ${status}, ${basis}`}>
      <p>
        <span class={`badge ${basis}`}>{basis}</span>{' '}
        <b class={`status ${count > 0 ? 'done' : 'failed'}`}>{count > 0 ? `${count}×` : 'never'}</b>
        {first && <> first: {links.exchange(first)}</>}
      </p>
      <p>
        {grounds.length > 0 && 'Decided by '}
        {grounds.map((ground) => (
          <span key={ground}>{links.ground(ground)} </span>
        ))}
        {(twins === 0 || basis === 'documented') && description}
      </p>
      {isAskedFor(of) && <pre class="body">{curl}</pre>}
      {isAskedFor(of) && status !== 401 && (
        <p class="quiet">
          A reply that <code>Prefer</code> forces does not count as shown.
        </p>
      )}
      {links.actions?.(of)}
    </section>
  );
}

interface FindingProps<T> {
  readonly of: T;
  readonly links: Pick<CoverageLinks, 'exchange'>;
}

function FindingList({ of: { findings, counts, total }, links }: FindingProps<Findings>) {
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
            <FindingItems of={ofKind} links={links} />
          </article>
        );
      })}
    </section>
  );
}

export function FindingItems({ of, links }: FindingProps<readonly ListedFinding[]>) {
  return (
    <Rows of={of.slice(-5)} keyOf={({ sandbox, exchange }) => `${sandbox} ${exchange}`}>
      {(finding) => (
        <span>
          {links.exchange(finding)}: <Prose text={shorten(visible(finding.message), 300)} />
        </span>
      )}
    </Rows>
  );
}
