import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { formatHref, type ViewName } from '../state/place.ts';
import { Button } from './buttons.tsx';

interface PanelProps {
  readonly title: string;
  readonly beside?: ComponentChildren;
  readonly close: string;
  readonly onClose: () => void;
  readonly quiet?: boolean;
  readonly children: ComponentChildren;
}

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

interface TabsProps {
  readonly label: string;
  readonly view: ViewName;
  readonly items: Readonly<Record<string, string>>;
  readonly current: string;
}

export function Tabs({ label, view, items, current }: TabsProps) {
  return (
    <nav aria-label={label}>
      {Object.entries(items).map(([item, title]) => (
        <a
          key={item}
          href={formatHref(view, item)}
          aria-current={item === current ? 'page' : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}
