import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { type Resource, useResource } from '../state/resource.ts';
import { openedTitle } from '../state/route.ts';
import { Button, useKeys } from './buttons.tsx';
import { visible } from './texts.tsx';

export function Loading({ of: { error } }: { of: Resource<unknown> }) {
  return (
    <p class={error === undefined ? 'loading quiet' : 'problem'} role="status">
      {error === undefined ? 'Loading…' : visible(error)}
    </p>
  );
}

interface AwaitProps<T> {
  readonly of: Resource<T>;
  readonly children: (value: NonNullable<T>) => ComponentChildren;
}

export function Await<T>({ of, children }: AwaitProps<T>) {
  return of.value === undefined || of.value === null ? <Loading of={of} /> : children(of.value);
}

interface LateProps<T> {
  readonly load: () => Promise<T>;
  readonly children: (loaded: NonNullable<T>) => ComponentChildren;
}

/** What the first view does not need, such as the reader of YAML. */
export function Late<T>({ load, children }: LateProps<T>) {
  return <Await of={useResource('late', load)}>{children}</Await>;
}

interface PanelProps<T> extends AwaitProps<T> {
  readonly title: string;
  readonly beside?: ComponentChildren;
  readonly close?: string;
  readonly onClose: () => void;
}

export function Panel<T>(props: PanelProps<T>) {
  const { title, beside, close = 'Close', onClose, of, children } = props;
  const heading = useRef<HTMLHeadingElement>(null);
  const id = useId();
  useEffect(() => heading.current?.focus(), []);
  useEffect(() => {
    openedTitle.value = title;
    return () => {
      openedTitle.value = undefined;
    };
  }, [title]);
  // Wherever the focus is: a row of the list keeps it while another is opened.
  useKeys(({ key, target }) => {
    const isElsewhere = document.querySelector('dialog[open], [popover="auto"]:popover-open');
    const isSearch = target instanceof Element && target.matches('[type="search"]');
    if (key === 'Escape' && isElsewhere === null && !isSearch) onClose();
  });
  return (
    <article class="panel" aria-labelledby={id}>
      <div class="bar">
        <h2 id={id} ref={heading} tabIndex={-1}>
          {title}
        </h2>
        {beside}
        <Button class="far" label={close} onClick={onClose} />
      </div>
      <Await of={of}>{children}</Await>
    </article>
  );
}

interface FoldProps {
  readonly title: ComponentChildren;
  readonly opened?: boolean;
  /** Drawn once it is open: there can be thousands. */
  readonly children: () => ComponentChildren;
}

export function Fold({ title, opened = false, children }: FoldProps) {
  const [isOpen, setOpen] = useState(opened);
  return (
    <details open={opened} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && children()}
    </details>
  );
}
