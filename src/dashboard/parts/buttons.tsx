import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { notice } from '../state/session.ts';

interface ButtonProps extends Omit<ButtonHTMLAttributes, 'onClick'> {
  readonly onClick?: (event: MouseEvent) => unknown;
}

/** A button that submits no form. It is off while its action runs, and keeps the focus. */
export function Button({ onClick, ...attributes }: ButtonProps) {
  const [isBusy, setBusy] = useState(false);
  const press = async (event: MouseEvent) => {
    if (isBusy) return;
    const result = onClick?.(event);
    if (!(result instanceof Promise)) return;
    setBusy(true);
    await result.finally(() => setBusy(false));
  };
  return (
    <button type="button" aria-disabled={isBusy || undefined} {...attributes} onClick={press} />
  );
}

interface ConfirmProps {
  readonly label: string;
  /** The full action for screen readers, if the label alone is ambiguous. */
  readonly name?: string;
  readonly children: ComponentChildren;
  readonly onConfirm: () => unknown;
}

export function ConfirmButton({ label, name = label, children, onConfirm }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  return (
    <>
      <Button class="danger" aria-label={name} onClick={() => dialog.current?.showModal()}>
        {label}
      </Button>
      <dialog
        ref={dialog}
        class="card"
        aria-labelledby={id}
        // Escape is for the dialog, not for the panel around it.
        onKeyDown={(event) => event.stopPropagation()}
      >
        <h2 id={id}>{name}?</h2>
        <p>{children}</p>
        <div class="bar">
          <Button onClick={() => dialog.current?.close()}>Cancel</Button>
          <Button
            class="danger"
            onClick={async ({ detail }) => {
              // The second half of a double click is no answer.
              if (detail > 1) return;
              dialog.current?.close();
              await onConfirm();
            }}
          >
            Yes, {label.toLowerCase()}
          </Button>
        </div>
      </dialog>
    </>
  );
}

interface MenuProps {
  readonly label: string;
  readonly children: ComponentChildren;
}

export function Menu({ label, children }: MenuProps) {
  const id = useId();
  return (
    <>
      <Button popovertarget={id}>
        {label} <span aria-hidden="true">▾</span>
      </Button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the clicks are those of its buttons */}
      <div
        id={id}
        popover="auto"
        class="menu-list"
        onClick={({ currentTarget }) => currentTarget.hidePopover()}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.stopPropagation();
        }}
      >
        {children}
      </div>
    </>
  );
}

interface CopyProps {
  readonly label: string;
  readonly name?: string;
  readonly text: () => string;
  readonly isOff?: boolean;
}

/** Copies a text. If the browser does not allow that, shows it selected instead. */
export function CopyButton({ label, name = label, text, isOff = false }: CopyProps) {
  const copy = async () => {
    try {
      // Browsers have no clipboard for a page over plain HTTP from another machine.
      await navigator.clipboard.writeText(text());
      notice.value = { kind: 'done', text: 'Copied.' };
    } catch {
      prompt(name, text());
    }
  };
  return (
    <Button aria-label={name} disabled={isOff} onClick={copy}>
      {label}
    </Button>
  );
}

export function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
