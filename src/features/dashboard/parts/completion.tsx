import type { RefObject } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Completions } from '../state/completion.ts';

/** At a time: the others follow by arrow key. */
const SHOWN = 10;

/**
 * Offers what can stand at the caret of a text area, as a list below it.
 *
 * @param mirror an element with the text of the area, at the same places
 * @param load reads what completions are made of, before the list opens
 */
export function useCompletion(
  area: RefObject<HTMLTextAreaElement | null>,
  mirror: RefObject<HTMLElement | null>,
  load: () => Promise<(text: string, caret: number) => Completions>,
) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [found, setFound] = useState<Completions | undefined>(undefined);
  const [chosen, choose] = useState(0);
  const { items = [], start = 0, end = 0 } = found ?? {};
  const isOpen = items.length > 0;
  const first = Math.max(0, chosen - SHOWN + 1);
  const turn = useRef(0);
  const find = useRef<Awaited<ReturnType<typeof load>>>(undefined);
  const show = (next: Completions | undefined) => {
    turn.current += 1;
    setFound(next);
    choose(0);
  };
  const close = () => show(undefined);
  // At once: a key that follows is for what stands here now, not for what stood here before.
  const follow = () => {
    if (area.current !== null)
      show(find.current?.(area.current.value, area.current.selectionStart));
  };
  const open = async () => {
    turn.current += 1;
    const own = turn.current;
    find.current = await load().catch(() => undefined);
    if (turn.current === own) follow();
  };
  const insert = (index: number) => {
    const text = items[index]?.text ?? '';
    area.current?.setSelectionRange(start, end);
    typeIn(text);
    close();
    if (text.endsWith(' ')) follow();
  };
  useEffect(() => {
    if (list.current === null || mirror.current === null) return;
    const { left, bottom } = placeOf(mirror.current, start);
    const { offsetWidth, offsetHeight, style } = list.current;
    const isBelow = bottom + offsetHeight < innerHeight;
    style.left = `${Math.max(8, Math.min(left, innerWidth - offsetWidth - 8))}px`;
    style.top = `${isBelow ? bottom : bottom - offsetHeight - 20}px`;
  });
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => choose((chosen + 1) % items.length),
    ArrowUp: () => choose((chosen + items.length - 1) % items.length),
    Enter: () => insert(chosen),
    Tab: () => insert(chosen),
    Escape: close,
  };
  return {
    attributes: {
      'aria-autocomplete': 'list',
      'aria-controls': isOpen ? id : undefined,
      'aria-activedescendant': isOpen ? `${id}-${chosen}` : undefined,
      onBlur: close,
      onClick: close,
    } as const,
    /** Looks again after an input. */
    follow: () => isOpen && follow(),
    /** Whether a key was for the list. */
    take: (event: KeyboardEvent): boolean => {
      const isOpener = event.key === ' ' && event.ctrlKey;
      const act = isOpener ? open : isOpen ? keys[event.key] : undefined;
      if (act === undefined) return false;
      event.preventDefault();
      event.stopPropagation();
      void act();
      return true;
    },
    list: isOpen && (
      <div ref={list} id={id} class="completion" role="listbox" aria-label="Completions">
        {items.slice(first, first + SHOWN).map(({ text, help }, row) => (
          // biome-ignore lint/a11y: the keys are those of the text area
          <div
            key={text}
            id={`${id}-${first + row}`}
            role="option"
            aria-selected={first + row === chosen}
            aria-posinset={first + row + 1}
            aria-setsize={items.length}
            onMouseDown={(event) => {
              event.preventDefault();
              insert(first + row);
            }}
          >
            <code>{text}</code> <span class="quiet">{help.replaceAll('`', '')}</span>
          </div>
        ))}
      </div>
    ),
  };
}

/** Unlike another value, this can be undone, and is an input as typing is. */
export function typeIn(text: string): void {
  document.execCommand('insertText', false, text);
}

function placeOf(mirror: HTMLElement, offset: number): DOMRect {
  const texts = document.createTreeWalker(mirror, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let left = offset;
  for (let node = texts.nextNode(); node instanceof Text; node = texts.nextNode()) {
    if (left < node.length) {
      range.setStart(node, left);
      range.setEnd(node, left + 1);
      break;
    }
    left -= node.length;
  }
  return range.getBoundingClientRect();
}
