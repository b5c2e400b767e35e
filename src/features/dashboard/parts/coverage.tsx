import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ReplyOf } from '../../../client/control-client.ts';
import { OPERATION_IDS, type OperationId } from '../../../core/contract/operations.ts';
import { formatHref, go, plural, route } from '../state/route.ts';
import { Panel } from './panel.tsx';
import { type Column, Rows, Table } from './table.tsx';
import { Prose, shorten, visible } from './texts.tsx';

type Coverage = ReplyOf<'GET /coverage'>;
type Findings = ReplyOf<'GET /findings'>;
type CoveredReply = Coverage['documented'][number];

export interface Covered extends CoveredReply {
  readonly basis: 'documented' | 'assumed';
  /** How many others have its operation and its status. */
  readonly twins: number;
}

export interface CoverageLinks {
  readonly exchange: (of: Readonly<{ sandbox: string; exchange: number }>) => ComponentChildren;
  readonly ground: (ground: string) => ComponentChildren;
  readonly actions: (of: Covered) => ComponentChildren;
}

/** The addresses of what it names; none in a report, which has no server behind it. */
export const Links = createContext<CoverageLinks>({
  exchange: ({ sandbox, exchange }) => (
    <code>
      {sandbox} #{exchange}
    </code>
  ),
  ground: (ground) => <code>{ground}</code>,
  actions: () => null,
});

export interface CoverageProps {
  readonly coverage: Coverage;
  readonly findings: Findings | undefined;
}

/** What the client was shown, and what it did that it should not do. */
export function CoverageTable({ coverage, findings }: CoverageProps) {
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
        {findings && <FindingList of={findings} />}
      </div>
      {opened.length > 0 && (
        <Panel
          key={item}
          title={item.replace('-', ' ')}
          onClose={() => go('coverage')}
          of={{ value: opened }}
        >
          {(shown) =>
            shown.map((reply) => <ReplyCard key={reply.basis + reply.grounds} of={reply} />)
          }
        </Panel>
      )}
    </div>
  );
}

export function cellId({ operation, status }: Pick<CoveredReply, 'operation' | 'status'>): string {
  return `${operation}-${status}`;
}

function Cell({ of }: { readonly of: readonly Covered[] }) {
  const [first] = of;
  if (first === undefined) return null;
  const id = cellId(first);
  const marks = (['documented', 'assumed'] as const).map((basis) => {
    const own = of.filter((reply) => reply.basis === basis);
    const count = own.reduce((sum, reply) => sum + reply.count, 0);
    const missing = basis === 'documented' ? 'failed' : 'quiet';
    return (
      own.length > 0 && (
        <span key={basis} class={`cell ${count === 0 ? missing : basis}`}>
          <span class="unseen"> {basis} shown </span>
          {count.toLocaleString('en')}
          <span class="unseen"> {count === 1 ? 'time' : 'times'} </span>
        </span>
      )
    );
  });
  return (
    <a href={formatHref('coverage', id)} aria-current={route.value.item === id}>
      <span class="unseen">{id.replace('-', ' ')}:</span>
      {marks}
    </a>
  );
}

const LEGEND = {
  documented: 'documented, shown',
  failed: 'documented, never shown',
  assumed: 'assumed, shown',
  quiet: 'assumed, never shown',
};

function Matrix({ replies }: { readonly replies: readonly Covered[] }) {
  const statuses = [...new Set(replies.map(({ status }) => status))].sort((a, b) => a - b);
  const columns: readonly Column<OperationId>[] = statuses.map((status) => ({
    name: `${status}`,
    cell: (operation) => (
      <Cell of={replies.filter((it) => it.operation === operation && it.status === status)} />
    ),
  }));
  return (
    <>
      <Table
        caption="How often each reply was shown"
        columns={[{ name: 'Operation', class: 'operation', cell: String }, ...columns]}
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

function ReplyCard({ of }: { readonly of: Covered }) {
  const links = useContext(Links);
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
      {links.actions(of)}
    </section>
  );
}

function FindingList({ of: { findings, counts, total } }: { readonly of: Findings }) {
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

export function FindingItems({ of }: { readonly of: Findings['findings'] }) {
  const links = useContext(Links);
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
