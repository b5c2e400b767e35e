import type { ComponentChildren, VNode } from 'preact';
import type { RecordedExchange } from '../../control/control-shapes.ts';
import { BasisBadge, StatusBadge } from '../parts/badge.tsx';
import { Table } from '../parts/table.tsx';
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

interface Column {
  readonly name: string;
  /** Names the column in the style sheet. */
  readonly class: string;
  readonly cell: (exchange: RecordedExchange, opened: boolean) => ComponentChildren;
  readonly title?: (exchange: RecordedExchange) => string;
}

const COLUMNS: readonly Column[] = [
  {
    name: 'No.',
    class: 'place',
    cell: ({ number }, opened) => (
      <a
        href={hrefOf('exchanges', String(number))}
        aria-label={`Exchange ${number}`}
        aria-current={opened ? 'true' : undefined}
        onClick={keepFilters}
      >
        {number}
      </a>
    ),
  },
  {
    name: 'Time',
    class: 'time',
    cell: ({ at }) => <time dateTime={at}>{at.slice(11, 23)}</time>,
  },
  {
    name: 'Request',
    class: 'request',
    cell: ({ method, target }) => (
      <>
        <b>{visible(method)}</b> <bdi>{shortened(visible(target))}</bdi>
      </>
    ),
    title: ({ target }) => shortened(visible(target), 2_000),
  },
  {
    name: 'Status',
    class: 'code',
    cell: ({ status, fault }) => <StatusBadge status={status} fault={fault} />,
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
  {
    name: 'Duration',
    class: 'number',
    cell: ({ duration }) => milliseconds(duration),
  },
  {
    name: 'Why',
    class: 'why',
    cell: ({ why, findings }) => (
      <>
        {shortened(visible(why[0] ?? ''))}{' '}
        {findings.length > 0 && (
          <span class="badge failed">{plural(findings.length, 'finding')}</span>
        )}
      </>
    ),
  },
];

const HEADS = COLUMNS.map(({ name, class: style }) => (
  <th key={name} scope="col" class={style}>
    {name}
  </th>
));

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
  return (
    <tr key={exchange.number} class={opened ? 'opened' : ''}>
      {COLUMNS.map(({ name, class: style, cell, title }) => (
        <td key={name} class={style} title={title?.(exchange)}>
          {cell(exchange, opened)}
        </td>
      ))}
    </tr>
  );
}

/** The link is drawn only once, but the filters can change. */
function keepFilters(event: MouseEvent & { readonly currentTarget: HTMLAnchorElement }): void {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go('exchanges', event.currentTarget.hash.split('/').at(-1), place.value.query);
}
