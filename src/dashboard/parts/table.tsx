import type { ComponentChildren, VNode } from 'preact';

interface TableProps {
  /** The heads of the columns: their names, or header cells. */
  readonly heads: readonly (string | VNode)[];
  /** For screen readers. */
  readonly caption?: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A table that scrolls on its own if the page is too narrow for it. */
export function Table({ heads, caption, class: style, children }: TableProps) {
  return (
    <div class="wide">
      <table class={style}>
        {caption && <caption class="unseen">{caption}</caption>}
        <thead>
          <tr>
            {heads.map((head) =>
              typeof head === 'string' ? (
                <th key={head} scope="col">
                  {head}
                </th>
              ) : (
                head
              ),
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** The head of a column of numbers. */
export function NumberHead({ name }: { readonly name: string }) {
  return (
    <th scope="col" class="number">
      {name}
    </th>
  );
}

/** The head of a column of buttons. */
export function ActionsHead() {
  return (
    <th scope="col">
      <span class="unseen">Actions</span>
    </th>
  );
}
