import { Button } from '../parts/buttons.tsx';
import type { Column } from '../parts/table.tsx';
import { formatDuration, formatTime, plural, shorten, Term, visible } from '../parts/texts.tsx';
import { formatHref, place } from '../state/place.ts';
import { attempt } from '../state/resource.ts';
import { client, type EditView, type RecordedExchange } from '../state/session.ts';

export const EXCHANGE_COLUMNS: readonly Column<RecordedExchange>[] = [
  {
    name: 'No.',
    class: 'place',
    cell: ({ number }) => (
      <a
        href={formatHref('exchanges', String(number), place.value.query)}
        aria-label={`Exchange ${number}`}
        aria-current={place.value.item === String(number) ? 'true' : undefined}
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
        <ReleaseButton of={exchange} />
        <span class="brief quiet">
          <Reason of={exchange} />
        </span>
      </>
    ),
  },
  {
    name: 'Status',
    class: 'code',
    cell: (exchange) => <StatusBadge {...exchange} />,
  },
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

/** The reasons in words, what a person would say first. */
export function sortReasons({ why }: Pick<RecordedExchange, 'why'>): readonly string[] {
  const isName = (reason: string) => reason.startsWith('assumption ');
  return [...why.filter((reason) => !isName(reason)), ...why.filter(isName)];
}

function Reason({ of }: { readonly of: RecordedExchange }) {
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

/** The time of day in UTC, after the date if that is not today's: clocks can be moved. */
function shortTime(at: string): string {
  const isToday = at.slice(0, 10) === new Date().toISOString().slice(0, 10);
  return isToday ? at.slice(11, 23) : `${formatTime(at)}${at.slice(19, 23)}`;
}

export function BasisBadge({ basis, by }: Pick<RecordedExchange, 'basis' | 'by'>) {
  const [first] = by;
  const more = by.length > 1 ? ` +${by.length - 1}` : '';
  const text = first === undefined ? basis : `${visible(first)}${more}`;
  const isLink = first !== undefined && (basis === 'assumed' || basis === 'forced');
  const [assumption] = first?.split('=') ?? [];
  const href =
    basis === 'assumed' ? formatHref('assumptions', assumption) : formatHref('scenarios');
  return (
    <Term word={basis}>
      {(id) =>
        isLink ? (
          <a class={`badge ${basis}`} href={href} aria-describedby={id}>
            {text}
          </a>
        ) : (
          <span class={`badge ${basis}`}>{text}</span>
        )
      }
    </Term>
  );
}

const MAX_EDITS = 3;

export function editRows(edits: readonly EditView[]) {
  const more = edits.length - MAX_EDITS;
  const rows = edits
    .slice(-MAX_EDITS)
    .toReversed()
    .map(({ at, what, by }) => {
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
  return more > 0 ? [...rows, { Request: `and ${plural(more, 'change')} before` }] : rows;
}

export function StatusBadge({ status, fault }: Pick<RecordedExchange, 'status' | 'fault'>) {
  const kind = status === undefined || status >= 400 ? 'failed' : 'done';
  return <b class={`status ${kind}`}>{status ?? fault ?? 'none'}</b>;
}

export function ReleaseButton({ of: { number, hold } }: { readonly of: RecordedExchange }) {
  if (hold === undefined || hold.ended !== undefined) return null;
  const body = { exchanges: [number] };
  const done = `Released the reply of exchange ${number}.`;
  return (
    <Button
      class="release"
      aria-label={`Release exchange ${number}`}
      onClick={() => attempt(done, () => client.call('POST /holds/release', { body }))}
    >
      Release
    </Button>
  );
}
