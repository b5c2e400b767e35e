import type { Writable } from 'node:stream';

const CLEAR_LINE = '\r\u001B[K';

/** Shows progress on the current line of a terminal, and nowhere else; an empty text clears it. */
export function progressOn(notices: Writable, command: string): (text: string) => void {
  if (!('isTTY' in notices) || notices.isTTY !== true) return () => {};
  return (text) => notices.write(`${CLEAR_LINE}${text === '' ? '' : `${command}: ${text}`}`);
}
