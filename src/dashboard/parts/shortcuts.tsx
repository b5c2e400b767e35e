import { useEffect, useRef } from 'preact/hooks';

const SHORTCUTS = [
  ['/', 'search'],
  ['j, k, ↓, ↑', 'the next older, newer exchange'],
  ['Enter', 'open what has the focus'],
  ['Esc', 'close what is open'],
  ['Ctrl+Enter', 'save a scenario and turn it on'],
  ['?', 'this list'],
] as const;

export function isTyping({ target, altKey, ctrlKey, metaKey }: KeyboardEvent): boolean {
  const isField = target instanceof Element && target.closest('input,select,textarea,.body,dialog');
  // The editor is in a shadow tree.
  const isEditor = target instanceof Element && target.shadowRoot !== null;
  return Boolean(isField) || isEditor || altKey || ctrlKey || metaKey;
}

export function Shortcuts() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event)) return;
      if (event.key === '?') dialog.current?.showModal();
      if (event.key !== '/') return;
      event.preventDefault();
      document.querySelector<HTMLElement>('main input[type="search"]')?.focus();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return (
    <dialog ref={dialog} class="card" aria-label="Shortcuts">
      <dl>
        {SHORTCUTS.map(([keys, what]) => (
          <div key={keys}>
            <dt>{keys}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
