import { ReleaseButton } from '../parts/strips.tsx';
import { type Column, column } from '../parts/table.tsx';
import { formatTime, plural, shorten, Term, visible } from '../parts/texts.tsx';
import { formatHref, route } from '../state/route.ts';
import type { ListedEdit, ListedExchange } from '../state/session.ts';

export const EXCHANGE_COLUMNS: readonly Column<ListedExchange>[] = [
  column(
    'No.',
    ({ number }) => (
      <a
        href={formatHref('exchanges', number, route.value.query)}
        aria-label={`Exchange ${number}`}
        aria-current={route.value.item === String(number)}
      >
        {number}
      </a>
    ),
    'place',
  ),
  column('Time', ({ at }) => <time dateTime={at}>{shortTime(at)}</time>, 'time'),
  column(
    'Request',
    (exchange) => (
      <>
        <b>{visible(exchange.method)}</b>{' '}
        <bdi title={visible(exchange.target)}>{shorten(visible(exchange.target))}</bdi>
        {isHeldBack(exchange) && <ReleaseButton exchange={exchange.number} />}
        <Reason of={exchange} />
      </>
    ),
    'request',
  ),
  column('Status', (exchange) => <StatusBadge {...exchange} />, 'code'),
  {
    name: 'Basis',
    class: 'basis',
    head: (
      <Term word="basis">
        {(id) => (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the focus shows what it means
          <span tabIndex={0} aria-describedby={id}>
            Basis
          </span>
        )}
      </Term>
    ),
    cell: (exchange) => <BasisBadge {...exchange} />,
  },
];

export function isHeldBack({ hold }: Pick<ListedExchange, 'hold'>): boolean {
  return hold !== undefined && hold.ended === undefined;
}

export function sortReasons({ why }: Pick<ListedExchange, 'why'>): readonly string[] {
  const isName = (reason: string) => reason.startsWith('assumption ');
  return [...why.filter((reason) => !isName(reason)), ...why.filter(isName)];
}

function Reason({ of }: { of: ListedExchange }) {
  const { findings, replays } = of;
  return (
    <div class="quiet">
      {shorten(visible(sortReasons(of)[0] ?? ''))}{' '}
      {replays !== undefined && <span class="badge">replay of {replays}</span>}{' '}
      {findings.length > 0 && (
        <span class="badge failed">{plural(findings.length, 'finding')}</span>
      )}
    </div>
  );
}

function shortTime(at: string): string {
  const isToday = at.slice(0, 10) === new Date().toISOString().slice(0, 10);
  return isToday ? at.slice(11, 23) : `${formatTime(at)}${at.slice(19, 23)}`;
}

export function BasisBadge({ basis, by }: Pick<ListedExchange, 'basis' | 'by'>) {
  const [first = ''] = by;
  const isPreferred = first === 'prefer';
  const more = by.length > 1 ? ` +${by.length - 1}` : '';
  const text = first === '' ? basis : `${isPreferred ? 'Prefer' : visible(first)}${more}`;
  const hrefs: Partial<Record<typeof basis, string>> = {
    assumed: formatHref('assumptions', first.split('=', 1)[0]),
    ...(!isPreferred && { forced: formatHref('scenarios') }),
  };
  const href = first === '' ? undefined : hrefs[basis];
  return (
    <Term word={basis}>
      {(id) =>
        href === undefined ? (
          <span class={`badge ${basis}`}>{text}</span>
        ) : (
          <a class={`badge ${basis}`} href={href} aria-describedby={id}>
            {text}
          </a>
        )
      }
    </Term>
  );
}

/** Changes by the control API, the newest first, over columns that are always there. */
export function editRows(edits: readonly ListedEdit[]) {
  return edits.toReversed().map(({ at, what, by }) => (
    <tr key={at + what} class="note">
      <td />
      <td colSpan={2}>
        {shortTime(at).slice(0, -4)} {visible(what)}, by {visible(by)}
      </td>
    </tr>
  ));
}

export function StatusBadge(exchange: Partial<Pick<ListedExchange, 'status' | 'fault' | 'hold'>>) {
  const { status, fault } = exchange;
  if (isHeldBack({ hold: undefined, ...exchange })) return <b class="status assumed">held</b>;
  const kind = status === undefined || status >= 400 ? 'failed' : 'done';
  return <b class={`status ${kind}`}>{status ?? fault ?? 'none'}</b>;
}
