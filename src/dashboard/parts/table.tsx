import type { ComponentChildren } from 'preact';

/** A column: its head and its cells are made from the same entry. */
export interface Column<Of> {
  readonly name: string;
  /** Names the column in the style sheet; `number` aligns it to the right. */
  readonly class?: string | undefined;
  /** A head other than the name. */
  readonly head?: ComponentChildren;
  /** How its rows are sorted by it, if they are. */
  readonly sort?: 'ascending' | 'descending' | 'none';
  readonly cell: (of: Of) => ComponentChildren;
  readonly title?: (of: Of) => string;
}

interface TableProps<Of> {
  readonly columns: readonly Column<Of>[];
  readonly rows: readonly Of[];
  readonly keyOf: (of: Of) => string | number;
  /** For screen readers. */
  readonly caption: string;
  /** `records` becomes a list of cards where the table has too little room. */
  readonly class: string;
  /** The key of the row that is marked. */
  readonly opened?: string | number | undefined;
  /** Stands in place of the cells of the marked row. */
  readonly children?: ComponentChildren;
}

/** A table that scrolls on its own if there is too little room for it. */
export function Table<Of>({ columns, rows, keyOf, opened, children, ...table }: TableProps<Of>) {
  const cellsOf = (row: Of) =>
    columns.map(({ name, class: style, cell, title }) => (
      <td
        key={name}
        class={style}
        data-name={style === 'acts' || style === 'tick' ? undefined : name}
        title={title?.(row)}
      >
        {cell(row)}
      </td>
    ));
  return (
    <div class="wide">
      <table class={table.class}>
        <caption class="unseen">{table.caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, class: style, head = name, sort }) => (
              <th key={name} scope="col" class={style} aria-sort={sort}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const isOpened = keyOf(row) === opened;
            return (
              <tr key={keyOf(row)} class={isOpened ? 'opened' : ''}>
                {isOpened && children ? <td colSpan={columns.length}>{children}</td> : cellsOf(row)}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
