import { DOCUMENTED_REASON } from '../../../core/service/reply.ts';
import { Button } from '../parts/buttons.tsx';
import { ReleaseButton } from '../parts/strips.tsx';
import type { Column } from '../parts/table.tsx';
import { formatDuration, formatTime, shorten, Term, visible } from '../parts/texts.tsx';
import { isHeldBack } from '../state/journal.ts';
import { shortTarget } from '../state/requests.ts';
import { undo } from '../state/resource.ts';
import { formatHref, plural, route, withQuery } from '../state/route.ts';
import { type ListedEdit, type ListedExchange, PAGE_CLIENT } from '../state/session.ts';
import { status } from '../state/settings.ts';

export const EXCHANGE_COLUMNS: readonly Column<ListedExchange>[] = [
  {
    name: 'No.',
    class: 'place',
    cell: ({ number }) => (
      <a
        href={formatHref('exchanges', number, withQuery({ with: '' }))}
        aria-label={`Exchange ${number}`}
        aria-current={route.value.item === String(number)}
      >
        {number}
      </a>
    ),
  },
  { name: 'Method', class: 'method-cell', cell: ({ method }) => <MethodBadge method={method} /> },
  {
    name: 'Path',
    class: 'request',
    cell: ({ target }) => (
      <bdi title={visible(target)}>{shorten(visible(shortTarget(target)))}</bdi>
    ),
  },
  { name: 'Status', class: 'code', cell: (exchange) => <StatusBadge {...exchange} /> },
  { name: 'Reason', class: 'reason', cell: (exchange) => <Reason of={exchange} /> },
  {
    name: 'Duration',
    class: 'ms number',
    cell: (exchange) => !isHeldBack(exchange) && formatDuration(exchange.duration),
  },
  { name: 'Age', class: 'time number', cell: (exchange) => <Age of={exchange} /> },
];

/** The nearest first, then the assumptions; nothing where all is as the document says. */
export function sortReasons({ why }: Pick<ListedExchange, 'why'>): readonly string[] {
  const isName = (reason: string) => reason.startsWith('assumption ');
  const others = why.filter((reason) => !isName(reason) && reason !== DOCUMENTED_REASON);
  return [...others, ...why.filter(isName)];
}

function Reason({ of }: { of: ListedExchange }) {
  const { replays, basis, number, request } = of;
  const [reason = ''] = sortReasons(of);
  // Each call of an operation has these: they are shown to who asks for them.
  const isAsked = route.value.query.get('search')?.includes('finding:');
  const isUsual = /^(?:deprecated|experimental)$/;
  const findings = of.findings.filter(({ code }) => isAsked || !isUsual.test(code));
  return (
    <div class="reasons">
      {isHeldBack(of) && <ReleaseButton exchange={number} />}
      {basis !== 'documented' && <span class={`badge ${basis}`}>{basisText(of)}</span>}
      {reason !== '' && !reason.startsWith('assumption ') && (
        <span class="quiet" title={visible(reason)}>
          {shorten(visible(reason))}
        </span>
      )}
      {route.value.query.get('pin') === String(number) && <span class="badge">pinned</span>}
      {of.offContract && <span class="badge failed">not by the document</span>}
      {findings.length > 0 && (
        <span class="badge failed">{plural(findings.length, 'finding')}</span>
      )}
      {replays !== undefined && <span class="badge">replay of {replays}</span>}
      {request.headers['mock-client'] && <span class="badge">by hand</span>}
    </div>
  );
}

const UNITS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const;

/** How long ago it was. A moment of a clock that was moved is no age. */
function Age({ of: { at, clockMoved } }: { readonly of: ListedExchange | ListedEdit }) {
  const { readAt = Date.now(), clock } = status.value ?? {};
  const now = clock?.real ? Date.parse(clock.now) : readAt;
  const seconds = Math.round((now - Date.parse(at)) / 1_000);
  const [size, unit] = UNITS.find(([least]) => seconds >= least) ?? [1, ''];
  const age = unit === '' ? 'now' : `${Math.floor(seconds / size)} ${unit}`;
  return (
    <time
      class={clockMoved ? 'assumed' : 'quiet'}
      dateTime={at}
      title={formatMoment(at, clockMoved)}
    >
      {clockMoved ? at.slice(0, 10) : age}
    </time>
  );
}

export function formatMoment(at: string, clockMoved: boolean | undefined): string {
  return `${formatTime(at)}${at.slice(19, 23)} UTC${clockMoved ? ' by the clock of the sandbox' : ''}`;
}

export function MethodBadge({ method }: { readonly method: string }) {
  return <b class={`method m-${method.toLowerCase()}`}>{visible(method)}</b>;
}

function basisText({ basis, by }: Pick<ListedExchange, 'basis' | 'by'>): string {
  const [first = basis] = by;
  return `${first === 'prefer' ? 'Prefer' : visible(first)}${by.length > 1 ? ` +${by.length - 1}` : ''}`;
}

/** It leads to the assumption or the scenario. */
export function BasisBadge({ basis, by }: Pick<ListedExchange, 'basis' | 'by'>) {
  const [first = ''] = by;
  const hrefs: Partial<Record<typeof basis, string>> = {
    assumed: formatHref('assumptions', first.split('=', 1)[0]),
    ...(first !== 'prefer' && { forced: formatHref('scenarios') }),
  };
  const href = first === '' ? undefined : hrefs[basis];
  const text =
    first === '' || basis === 'upstream' ? basis : `${basis}: ${basisText({ basis, by })}`;
  return (
    <Term word={basis}>
      {(id) =>
        href === undefined ? (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the focus shows what it means
          <span class={`badge ${basis}`} tabIndex={0} aria-describedby={id}>
            {text}
          </span>
        ) : (
          <a class={`badge ${basis}`} href={href} aria-describedby={id}>
            {text}
          </a>
        )
      }
    </Term>
  );
}

/**
 * Changes by the control API, the newest first, over columns that every width shows.
 *
 * @param last the one that Undo takes back
 */
export function editRows(edits: readonly ListedEdit[], last: ListedEdit | undefined) {
  return edits.toReversed().map((edit) => (
    <tr key={edit.number} class="note">
      <td />
      <td colSpan={3}>
        <div class="reasons">
          <span class="quiet">
            {visible(edit.what)}
            {edit.by !== PAGE_CLIENT && `, by ${visible(edit.by)}`}
          </span>
          <Age of={edit} />
          {edit === last && (
            <Button class="link" label="Undo" of={last.what} onClick={() => undo([last])} />
          )}
        </div>
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
