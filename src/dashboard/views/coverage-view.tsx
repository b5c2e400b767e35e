import type { Coverage } from '../../control/control-shapes.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { Loading } from '../parts/loading.tsx';
import { QueryToggle } from '../parts/query-inputs.tsx';
import { ruleFor } from '../parts/rule-of.ts';
import { Table } from '../parts/table.tsx';
import { editDraft } from '../state/draft.ts';
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
  const onlyMissing = place.value.query.has('missing');
  const wanted = <Of extends { count: number }>(all: readonly Of[]) =>
    onlyMissing ? all.filter(({ count }) => count === 0) : all;
  return (
    <>
      <div class="tiles">
        <Share label="documented replies" share={totals.documented} />
        <Share label="cases within them" share={totals.cases} />
        <Share label="assumed replies" share={totals.assumed} />
      </div>
      <FindingList />
      <div class="bar">
        <QueryToggle name="missing" label="Only what was never shown" />
      </div>
      <Replies title="Documented replies" replies={wanted(documented)} />
      <Cases cases={wanted(cases)} />
      <Replies title="Assumed replies" replies={wanted(assumed)} />
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

interface RepliesProps {
  readonly title: string;
  readonly replies: readonly ReplyCoverage[];
}

function Replies({ title, replies }: RepliesProps) {
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {replies.length === 0 && <p class="empty">None.</p>}
      {replies.length > 0 && (
        <Table heads={['Reply', 'Shown', 'How to get it']}>
          {replies.map((reply) => (
            <ReplyRow key={`${reply.operation} ${reply.status} ${reply.grounds}`} of={reply} />
          ))}
        </Table>
      )}
    </section>
  );
}

function ReplyRow({ of }: { readonly of: ReplyCoverage }) {
  const { operation, status, description, grounds, count, curl } = of;
  return (
    <tr>
      <th scope="row">
        {operation} {status}
        <div class="quiet">
          {description}{' '}
          {grounds.map((ground) => (
            <a key={ground} href={hrefOf('assumptions', ground.split('=', 1)[0])}>
              {ground}{' '}
            </a>
          ))}
        </div>
      </th>
      <td>
        <Shown of={of} />
      </td>
      <td>
        {count === 0 && (
          <div class="actions">
            {curl !== undefined && <CopyButton label="Copy curl" text={() => curl} />}
            <button type="button" onClick={() => editDraft(ruleFor(operation, status))}>
              Force it once
            </button>
          </div>
        )}
      </td>
    </tr>
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

function Cases({ cases }: { readonly cases: readonly CaseCoverage[] }) {
  return (
    <section aria-label="Cases">
      <h2>Cases within documented replies</h2>
      {cases.length === 0 && <p class="empty">None.</p>}
      <ul class="rows">
        {cases.map((it) => (
          <li key={it.id}>
            <Shown of={it} />
            <span>
              {it.operation} {it.status}: {it.sentence}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
