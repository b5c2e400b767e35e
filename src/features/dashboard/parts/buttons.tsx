import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { ask, notice, question } from '../state/session.ts';

interface ButtonProps extends Omit<ButtonHTMLAttributes, 'onClick' | 'label'> {
  readonly label: string;
  readonly of?: string | undefined;
  readonly confirm?: string; // what goes: the page asks first
  readonly onClick?: () => unknown;
}

/** Shorter waits are not worth a word. */
const SLOW_MS = 300;

/** What a button says while it waits: "Save the rule" becomes "Saving…". */
export function useBusy() {
  const [state, set] = useState<'busy' | 'slow' | undefined>();
  return {
    isBusy: state !== undefined,
    name: (label: string) =>
      state === 'slow'
        ? label.replace(
            /^(Sav|Send|Add|Creat|Delet|Undo|Keep|Us)e?\b.*|$/,
            (_all, verb?: string) => (verb ? `${verb}ing…` : '…'),
          )
        : label,
    during: async (action: Promise<unknown>) => {
      set('busy');
      setTimeout(() => set((last) => last && 'slow'), SLOW_MS);
      await action.finally(() => set(undefined));
    },
  };
}

export function Button({ label, of = '', confirm, onClick, ...attributes }: ButtonProps) {
  const { isBusy, name: nameNow, during } = useBusy();
  const name = `${label} ${of}`.trim();
  const press = async () => {
    if (isBusy || (confirm !== undefined && !(await ask(name, label, confirm)))) return;
    const result = onClick?.();
    if (result instanceof Promise) await during(result);
  };
  return (
    <button
      type="button"
      class={confirm && 'danger'}
      aria-label={of === '' ? undefined : name}
      aria-disabled={isBusy || undefined}
      {...attributes}
      onClick={press}
    >
      {nameNow(label)}
    </button>
  );
}

export function Confirmation() {
  const dialog = useRef<HTMLDialogElement>(null);
  const { name = '', label = '', text, answer } = question.value ?? {};
  useEffect(() => {
    if (dialog.current === null || question.value === undefined) return;
    dialog.current.returnValue = '';
    dialog.current.showModal();
  }, [question.value]);
  return (
    <dialog
      ref={dialog}
      class="card"
      aria-label={`${name}?`}
      onClose={({ currentTarget }) => answer?.(currentTarget.returnValue === 'yes')}
    >
      <h2>{name}?</h2>
      <p>{text}</p>
      <form method="dialog" class="bar">
        <button type="submit">Cancel</button>
        <button
          type="submit"
          class="danger"
          value="yes"
          // The second half of a double click is no answer.
          onClick={(event) => event.detail > 1 && event.preventDefault()}
        >
          Yes, {label.toLowerCase()}
        </button>
      </form>
    </dialog>
  );
}

/** Why the server refused what was chosen here. */
export function Refusal({ of }: { readonly of: string }) {
  return notice.value?.at === of ? <b class="problem">{notice.value.text}</b> : null;
}

interface SegmentsProps<Name extends string> {
  readonly label: string;
  readonly names: readonly Name[];
  /** What a button shows in place of a name, which its label still has. */
  readonly sayOf?: (name: Name) => string;
  readonly chosen: Name;
  readonly onChoose: (name: Name) => void;
}

/** Names of which one is chosen. */
export function Segments<Name extends string>(props: SegmentsProps<Name>) {
  const { label, names, sayOf = String, chosen, onChoose } = props;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset looks like a form
    <div role="group" class="segments" aria-label={label}>
      {names.map((name) => (
        <Button
          key={name}
          label={sayOf(name)}
          of={sayOf(name) === name ? '' : name}
          aria-pressed={name === chosen}
          onClick={() => onChoose(name)}
        />
      ))}
    </div>
  );
}

type MenuProps = Pick<ButtonProps, 'label' | 'of'> & { children: ComponentChildren };

export function Menu({ label, of, children }: MenuProps) {
  const id = useId();
  return (
    <>
      <Button label={label} of={of} popovertarget={id} />
      {/* biome-ignore lint/a11y: the clicks are those of its buttons */}
      <div
        id={id}
        popover="auto"
        class="menu-list"
        onClick={({ currentTarget }) => currentTarget.hidePopover()}
        onToggle={({ currentTarget }) =>
          currentTarget.querySelector<HTMLElement>(':is(a, button)')?.focus()
        }
        onKeyDown={(event) => moveFocus(event, ':is(a, button:enabled)')}
      >
        {children}
      </div>
    </>
  );
}

/** Hears every key, wherever the focus is. */
export function useKeys(onKey: (event: KeyboardEvent) => void): void {
  useEffect(() => {
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  });
}

/** Whether a key belongs to a field, a menu or the browser, not to a shortcut of the page. */
export function isTyping({ target, altKey, ctrlKey, metaKey }: KeyboardEvent): boolean {
  const isField = target instanceof Element && target.closest('input,select,textarea,.body,dialog');
  const isMenu = document.querySelector('[popover="auto"]:popover-open') !== null;
  return Boolean(isField) || isMenu || altKey || ctrlKey || metaKey;
}

/** Leads through a menu by arrow key. */
function moveFocus(event: KeyboardEvent, selector: string): void {
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  const { currentTarget } = event;
  if (step === undefined || !(currentTarget instanceof Element)) return;
  const all = [...currentTarget.querySelectorAll<HTMLElement>(selector)];
  const index = all.findIndex((element) => element.matches(':focus'));
  event.preventDefault();
  all.at((index + step) % all.length)?.focus();
}

export async function copy(text: string): Promise<void> {
  try {
    // Browsers have no clipboard for a page over plain HTTP from another machine.
    await navigator.clipboard.writeText(text);
    notice.value = { kind: 'done', text: 'Copied.' };
  } catch {
    prompt('Copy this', text);
  }
}

export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
