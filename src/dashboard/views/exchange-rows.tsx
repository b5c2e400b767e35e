import type { VNode } from 'preact';
import type { RecordedExchange } from '../../control/control-shapes.ts';
import { BasisBadge, StatusBadge } from '../parts/badge.tsx';
import { NumberHead, Table } from '../parts/table.tsx';
import { milliseconds, plural, shortened, visible } from '../parts/visible-text.ts';
import { go, hrefOf, place } from '../state/place.ts';

interface Rows {
  readonly exchanges: readonly RecordedExchange[];
  /** How many of them are drawn. */
  readonly most: number;
  /** The number of the exchange that is shown in detail. */
  readonly opened: number;
}

/** Exchanges as a table, the newest first. */
export function ExchangeRows({ exchanges, most, opened }: Rows) {
  return (
    <Table class="exchanges" caption="Exchanges, the newest first" heads={HEADS}>
      {exchanges
        .slice(0, most)
        .map((exchange) => (exchange.number === opened ? rowOf(exchange, true) : drawn(exchange)))}
    </Table>
  );
}

const HEADS = [
  ...['No.', 'Time', 'Request', 'Status', 'Basis'],
  <NumberHead key="Duration" name="Duration" />,
  'Why',
];

/** Caches drawn rows: Preact skips those it has seen, however fast exchanges come. */
const rows = new WeakMap<RecordedExchange, VNode>();

function drawn(exchange: RecordedExchange): VNode {
  let row = rows.get(exchange);
  if (row === undefined) {
    row = rowOf(exchange, false);
    rows.set(exchange, row);
  }
  return row;
}

function rowOf(exchange: RecordedExchange, opened: boolean): VNode {
  const { number, at, method, target, status, fault, basis, by, duration, why, findings } =
    exchange;
  const path = visible(target);
  return (
    <tr key={number} class={opened ? 'opened' : ''}>
      <td>
        <a
          href={hrefOf('exchanges', String(number))}
          aria-label={`Exchange ${number}`}
          aria-current={opened ? 'true' : undefined}
          onClick={keepFilters}
        >
          {number}
        </a>
      </td>
      <td>
        <time dateTime={at}>{at.slice(11, 23)}</time>
      </td>
      <td class="request" title={shortened(path, 2_000)}>
        <b>{visible(method)}</b> <bdi>{shortened(path)}</bdi>
      </td>
      <td>
        <StatusBadge status={status} fault={fault} />
      </td>
      <td>
        {basis === 'assumed' ? (
          <a href={hrefOf('assumptions', by[0]?.split('=', 1)[0])}>
            <BasisBadge basis={basis} />
          </a>
        ) : (
          <BasisBadge basis={basis} />
        )}
      </td>
      <td class="number">{milliseconds(duration)}</td>
      <td class="why">
        {shortened(visible(why[0] ?? ''))}{' '}
        {findings.length > 0 && (
          <span class="badge failed">{plural(findings.length, 'finding')}</span>
        )}
      </td>
    </tr>
  );
}

/** The link is drawn only once, but the filters can change. */
function keepFilters(event: MouseEvent & { readonly currentTarget: HTMLAnchorElement }): void {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go('exchanges', event.currentTarget.hash.split('/').at(-1), place.value.query);
}
