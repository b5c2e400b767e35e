import type { ComponentChildren, KeyboardEventHandler, RefObject, VNode } from 'preact';

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

interface TableProps {
  readonly columns: readonly Column<never>[];
  /** For screen readers. */
  readonly caption: string;
  /** `records` becomes a list of cards where the table has too little room. */
  readonly class: string;
  readonly children: ComponentChildren;
}

/** A table that scrolls on its own if there is too little room for it. */
export function Table({ columns, caption, class: style, children }: TableProps) {
  return (
    <div class="wide">
      <table class={style}>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, class: of, head = name, sort }) => (
              <th key={name} scope="col" class={of} aria-sort={sort}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

interface RowProps<Of> {
  readonly of: Of;
  readonly columns: readonly Column<Of>[];
  readonly opened?: boolean;
  readonly rowRef?: RefObject<HTMLTableRowElement | null>;
  readonly onKeyDown?: KeyboardEventHandler<HTMLTableRowElement>;
}

/** The cells of a row. */
export function TableRow<Of>({ of, columns, opened, rowRef, onKeyDown }: RowProps<Of>): VNode {
  return (
    <tr ref={rowRef ?? null} class={opened ? 'opened' : ''} onKeyDown={onKeyDown}>
      {columns.map(({ name, class: style, cell, title }) => (
        <td
          key={name}
          class={style}
          data-name={style === 'acts' || style === 'tick' ? undefined : name}
          title={title?.(of)}
        >
          {cell(of)}
        </td>
      ))}
    </tr>
  );
}
