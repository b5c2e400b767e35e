import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from './buttons.tsx';

interface PanelProps {
  readonly title: string;
  /** What stands beside the title. */
  readonly beside?: ComponentChildren;
  readonly close: string;
  readonly onClose: () => void;
  /** Whether it keeps the focus where it is. */
  readonly quiet?: boolean;
  readonly children: ComponentChildren;
}

/** The details of an item, beside its list. Escape closes them. */
export function Panel({ title, beside, close, onClose, quiet = false, children }: PanelProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const id = useId();
  useEffect(() => {
    if (!quiet) heading.current?.focus();
  }, []);
  return (
    <article
      class="panel"
      aria-labelledby={id}
      onKeyDown={({ key, defaultPrevented }) => {
        if (key === 'Escape' && !defaultPrevented) onClose();
      }}
    >
      <div class="bar">
        <h2 id={id} ref={heading} tabIndex={-1}>
          {title}
        </h2>
        {beside}
        <Button class="far" onClick={onClose}>
          {close}
        </Button>
      </div>
      {children}
    </article>
  );
}
