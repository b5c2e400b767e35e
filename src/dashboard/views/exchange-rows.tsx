import type { RecordedExchange } from '../../control/control-shapes.ts';
import { Button } from '../parts/buttons.tsx';
import type { Column } from '../parts/table.tsx';
import { milliseconds, plural, shorten, timeText, visible } from '../parts/texts.tsx';
import { hrefOf, place } from '../state/place.ts';
import { act } from '../state/resource.ts';

/** The columns of a list of exchanges. */
export const EXCHANGE_COLUMNS: readonly Column<RecordedExchange>[] = [
  {
    name: 'No.',
    class: 'place',
    cell: ({ number }) => (
      <a
        href={hrefOf('exchanges', String(number), place.value.query)}
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
    cell: ({ basis, by }) =>
      basis === 'assumed' ? (
        <a href={hrefOf('assumptions', by[0]?.split('=', 1)[0])}>
          <BasisBadge basis={basis} />
        </a>
      ) : (
        <BasisBadge basis={basis} />
      ),
  },
  { name: 'Duration', class: 'number', cell: ({ duration }) => milliseconds(duration) },
  { name: 'Why', class: 'why', cell: (exchange) => <Reason of={exchange} /> },
];

function Reason({ of: { why, findings } }: { readonly of: RecordedExchange }) {
  return (
    <>
      {shorten(visible(why[0] ?? ''))}{' '}
      {findings.length > 0 && (
        <span class="badge failed">{plural(findings.length, 'finding')}</span>
      )}
    </>
  );
}

/** The time of day in UTC, after the date if that is not today's: clocks can be moved. */
function shortTime(at: string): string {
  const isToday = at.slice(0, 10) === new Date().toISOString().slice(0, 10);
  return isToday ? at.slice(11, 23) : timeText(at);
}

const MEANINGS: Readonly<Record<RecordedExchange['basis'], string>> = {
  documented: 'The document prescribes this reply.',
  assumed: 'An assumption decided this reply.',
  forced: 'A scenario or the request itself forced this reply.',
  upstream: 'A deployment gave this reply.',
};

/** What a reply rests on. */
export function BasisBadge({ basis }: Pick<RecordedExchange, 'basis'>) {
  return (
    <span class={`badge ${basis}`} title={MEANINGS[basis]}>
      {basis}
    </span>
  );
}

/** The status of a reply, or the fault in its place. */
export function StatusBadge({ status, fault }: Pick<RecordedExchange, 'status' | 'fault'>) {
  const kind = status === undefined || status >= 400 ? 'failed' : 'done';
  return <b class={`status ${kind}`}>{status ?? fault ?? 'none'}</b>;
}

/** Lets a reply go that a rule holds back. */
export function ReleaseButton({ of: { number, hold } }: { readonly of: RecordedExchange }) {
  if (hold === undefined || hold.ended !== undefined) return null;
  const body = { exchanges: [number] };
  const done = `Released the reply of exchange ${number}.`;
  return (
    <Button
      class="release"
      aria-label={`Release exchange ${number}`}
      onClick={() => act(done, 'POST', '/holds/release', { body })}
    >
      Release
    </Button>
  );
}
