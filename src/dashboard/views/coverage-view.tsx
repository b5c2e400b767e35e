import { OPERATION_IDS, type OperationId, operationShape } from '../../contract/operations.ts';
import type { Coverage } from '../../control/control-shapes.ts';
import { CopyButton } from '../parts/buttons.tsx';
import { Loading } from '../parts/loading.tsx';
import { hrefOf, place } from '../state/place.ts';
import { OFTEN, useResource } from '../state/resource.ts';
import { FindingList } from './finding-list.tsx';

type ReplyCoverage = Coverage['documented'][number];
type CaseCoverage = Coverage['cases'][number];

/** What the client was shown of the service, what it was never shown, and what it did wrong. */
export function CoverageView() {
  const coverage = useResource<Coverage>('/coverage', OFTEN);
  if (coverage.value === undefined) return <Loading resource={coverage} />;
  const { totals, documented, cases, assumed } = coverage.value;
  const cells = cellsOf(documented, assumed);
  const opened = cells.find(({ id }) => id === place.value.item);
  return (
    <>
      <div class="tiles">
        <Share label="documented replies" share={totals.documented} />
        <Share label="cases within them" share={totals.cases} />
        <Share label="assumed replies" share={totals.assumed} />
      </div>
      <Matrix cells={cells} />
      <div aria-live="polite">
        {opened === undefined ? (
          <p class="quiet">Choose a reply in the table to see how to get it.</p>
        ) : (
          opened.replies.map((reply) => (
            <ReplyCard
              key={reply.grounds.join()}
              of={reply}
              cases={reply === opened.documented ? cases : []}
            />
          ))
        )}
      </div>
      <FindingList />
    </>
  );
}

interface ShareProps {
  readonly label: string;
  readonly share: Coverage['totals']['documented'];
}

function Share({ label, share: { shown, total } }: ShareProps) {
  return (
    <p class="card tile">
      <b>{shown}</b> of {total} {label}
      <progress value={shown} max={total} aria-label={label} />
    </p>
  );
}

/** The replies of an operation with one status. */
interface Cell {
  /** Its place in the page's address. */
  readonly id: string;
  readonly operation: OperationId;
  readonly status: number;
  readonly documented: ReplyCoverage | undefined;
  readonly replies: readonly ReplyCoverage[];
  readonly count: number;
}

function cellsOf(documented: readonly ReplyCoverage[], assumed: readonly ReplyCoverage[]): Cell[] {
  const ids = new Map<string, ReplyCoverage[]>();
  for (const reply of [...documented, ...assumed]) {
    const id = `${reply.operation}-${reply.status}`;
    ids.set(id, [...(ids.get(id) ?? []), reply]);
  }
  return [...ids].flatMap(([id, replies]) =>
    replies.slice(0, 1).map(({ operation, status }) => ({
      id,
      operation,
      status,
      documented: replies.find((it) => documented.includes(it)),
      replies,
      count: replies.reduce((sum, { count }) => sum + count, 0),
    })),
  );
}

/** The operations by the statuses of their replies, with how often each was shown. */
function Matrix({ cells }: { readonly cells: readonly Cell[] }) {
  const statuses = [...new Set(cells.map(({ status }) => status))].sort((a, b) => a - b);
  return (
    <div class="wide">
      <table class="matrix">
        <caption class="unseen">How often each reply was shown</caption>
        <thead>
          <tr>
            <th scope="col">Operation</th>
            {statuses.map((status) => (
              <th key={status} scope="col">
                {status}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {OPERATION_IDS.map((operation) => (
            <tr key={operation}>
              <th scope="row">
                {operation}
                <div class="quiet mono">
                  {operationShape(operation).method} {operationShape(operation).path}
                </div>
              </th>
              {statuses.map((status) => (
                <td key={status}>
                  <CellLink
                    of={cells.find((it) => it.operation === operation && it.status === status)}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="legend quiet">
        <span class="cell documented">3</span> documented, shown 3 times
        <span class="cell failed">0</span> documented, never shown
        <span class="cell assumed">3</span> assumed, shown 3 times
        <span class="cell">0</span> assumed, never shown
      </p>
    </div>
  );
}

function CellLink({ of }: { readonly of: Cell | undefined }) {
  if (of === undefined) return null;
  const { id, documented, count, operation, status } = of;
  const missing = documented === undefined ? 'quiet' : 'failed';
  const shown = documented === undefined || documented.count === 0 ? 'assumed' : 'documented';
  return (
    <a
      class={`cell ${count === 0 ? missing : shown}`}
      href={hrefOf('coverage', id)}
      aria-current={place.value.item === id ? 'true' : undefined}
      aria-label={`${operation} ${status}: shown ${count.toLocaleString('en')} times`}
    >
      {count.toLocaleString('en')}
    </a>
  );
}

interface CardProps {
  readonly of: ReplyCoverage;
  readonly cases: readonly CaseCoverage[];
}

function ReplyCard({ of, cases }: CardProps) {
  const { operation, status, description, grounds, curl } = of;
  const own = cases.filter((it) => it.operation === operation && it.status === status);
  return (
    <article class="card" aria-label={`${operation} ${status}`}>
      <h2>
        {operation} {status} <Shown of={of} />
      </h2>
      <p>
        {description}{' '}
        {grounds.map((ground) => (
          <a key={ground} href={hrefOf('assumptions', ground.split('=', 1)[0])}>
            {ground}{' '}
          </a>
        ))}
      </p>
      {curl !== undefined && (
        <section class="body" aria-label="How to get it">
          <pre>{curl}</pre>
        </section>
      )}
      <div class="bar">
        {curl !== undefined && <CopyButton label="Copy as curl" text={() => curl} />}
        <a
          href={hrefOf(
            'exchanges',
            'rule',
            new URLSearchParams({ operation, status: `${status}` }),
          )}
        >
          Draft a rule
        </a>
      </div>
      {own.length > 0 && (
        <ul class="rows">
          {own.map((it) => (
            <li key={it.id}>
              <Shown of={it} />
              <span>{it.sentence}</span>
            </li>
          ))}
        </ul>
      )}
    </article>
  );
}

/** How often something was shown, with a link to the first time if that was in this sandbox. */
function Shown({ of: { count, first } }: { readonly of: ReplyCoverage | CaseCoverage }) {
  if (count === 0) return <span class="status failed">never</span>;
  return (
    <>
      <span class="status done">{count}×</span>{' '}
      {first !== undefined && (
        <a href={hrefOf('exchanges', String(first.exchange))}>first in exchange {first.exchange}</a>
      )}
    </>
  );
}
