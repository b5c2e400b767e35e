import type { Findings } from '../../control/control-shapes.ts';
import { Loading } from '../parts/loading.tsx';
import { Prose } from '../parts/prose.tsx';
import { plural, shortened, visible } from '../parts/visible-text.ts';
import { hrefOf } from '../state/place.ts';
import { OFTEN, useResource } from '../state/resource.ts';

export type Finding = Findings['findings'][number];

/** Findings of one kind that are listed; the rest are much the same. */
export const MOST_OF_A_KIND = 5;

/** What the client did that it should not do against the real service, by kind. */
export function FindingList() {
  const list = useResource<Findings>('/findings', OFTEN);
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
            <ul>
              {ofKind.slice(-MOST_OF_A_KIND).map((it) => (
                <FindingItem key={it.exchange} of={it} />
              ))}
            </ul>
          </article>
        );
      })}
    </section>
  );
}

/** One finding, with a link to its exchange. */
export function FindingItem({ of: { exchange, message } }: { readonly of: Finding }) {
  return (
    <li>
      <a href={hrefOf('exchanges', String(exchange))}>Exchange {exchange}</a>:{' '}
      <Prose text={shortened(visible(message), 300)} />
    </li>
  );
}
