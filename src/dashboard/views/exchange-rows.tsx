import { ReleaseButton } from '../parts/strips.tsx';
import type { Column } from '../parts/table.tsx';
import { formatDuration, formatTime, plural, shorten, Term, visible } from '../parts/texts.tsx';
import { formatHref, place } from '../state/place.ts';
import type { EditView, RecordedExchange } from '../state/session.ts';

export const EXCHANGE_COLUMNS: readonly Column<RecordedExchange>[] = [
  {
    name: 'No.',
    class: 'place',
    cell: ({ number }) => (
      <a
        href={formatHref('exchanges', number, place.value.query)}
        aria-label={`Exchange ${number}`}
        aria-current={place.value.item === String(number)}
      >
        {number}
      </a>
    ),
  },
  { name: 'Time', class: 'time', cell: ({ at }) => <time dateTime={at}>{shortTime(at)}</time> },
  {
    name: 'Request',
    class: 'request',
    cell: (exchange) => (
      <>
        <b>{visible(exchange.method)}</b>{' '}
        <bdi title={visible(exchange.target)}>{shorten(visible(exchange.target))}</bdi>
        {isHeld(exchange) && <ReleaseButton exchange={exchange.number} />}
        <span class="brief quiet">
          <Reason of={exchange} />
        </span>
      </>
    ),
  },
  { name: 'Status', class: 'code', cell: (exchange) => <StatusBadge {...exchange} /> },
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
  { name: 'Duration', class: 'number', cell: ({ duration }) => formatDuration(duration) },
  { name: 'Why', class: 'why', cell: (exchange) => <Reason of={exchange} /> },
];

export function isHeld({ hold }: Pick<RecordedExchange, 'hold'>): boolean {
  return hold !== undefined && hold.ended === undefined;
}

export function sortReasons({ why }: Pick<RecordedExchange, 'why'>): readonly string[] {
  const isName = (reason: string) => reason.startsWith('assumption ');
  return [...why.filter((reason) => !isName(reason)), ...why.filter(isName)];
}

function Reason({ of }: { of: RecordedExchange }) {
  const { findings, replays } = of;
  return (
    <>
      {shorten(visible(sortReasons(of)[0] ?? ''))}{' '}
      {replays !== undefined && <span class="badge">replay of {replays}</span>}{' '}
      {findings.length > 0 && (
        <span class="badge failed">{plural(findings.length, 'finding')}</span>
      )}
    </>
  );
}

function shortTime(at: string): string {
  const isToday = at.slice(0, 10) === new Date().toISOString().slice(0, 10);
  return isToday ? at.slice(11, 23) : `${formatTime(at)}${at.slice(19, 23)}`;
}

export function BasisBadge({ basis, by }: Pick<RecordedExchange, 'basis' | 'by'>) {
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

export function editRows(edits: readonly EditView[]) {
  return edits.toReversed().map(({ at, what, by }) => {
    const time = <time dateTime={at}>{shortTime(at).slice(0, -4)}</time>;
    const text = `${visible(what)}, by ${visible(by)}`;
    return {
      Time: time,
      Request: (
        <>
          {text} <span class="brief">{time}</span>
        </>
      ),
    };
  });
}

export function StatusBadge(
  exchange: Partial<Pick<RecordedExchange, 'status' | 'fault' | 'hold'>>,
) {
  const { status, fault } = exchange;
  if (isHeld({ hold: undefined, ...exchange })) return <b class="status assumed">held</b>;
  const kind = status === undefined || status >= 400 ? 'failed' : 'done';
  return <b class={`status ${kind}`}>{status ?? fault ?? 'none'}</b>;
}
