import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { isObject } from '../core/json.ts';
import { escapeCharacter } from '../core/words.ts';

export interface Terminal {
  readonly output: Writable;
  /** For messages that only people read. */
  readonly notices: Writable;
  readonly interactive: boolean;
  readonly style: Style;
  /** The variables of the environment. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

export interface Style {
  readonly width: number;
  readonly colour: boolean;
}

const MIN_WIDTH = 80;
const MAX_WIDTH = 100;

export function createTerminal(
  output: Writable & { readonly isTTY?: boolean; readonly columns?: number },
  notices: Writable,
  variables: Readonly<Record<string, string | undefined>>,
): Terminal {
  const { NO_COLOR, TERM } = variables;
  const interactive = output.isTTY === true;
  return {
    output,
    notices,
    interactive,
    variables,
    style: {
      // What is piped may be searched line by line.
      width: interactive
        ? Math.min(Math.max(output.columns ?? MAX_WIDTH, MIN_WIDTH), MAX_WIDTH)
        : Number.POSITIVE_INFINITY,
      colour: interactive && !NO_COLOR && TERM !== 'dumb',
    },
  };
}

/** Node blocks while it writes to a terminal, so a paused one (Ctrl-S) would stop the whole program. */
export function writeInBackground(stream: Writable): void {
  const handle: unknown = Reflect.get(stream, '_handle');
  const setBlocking = isObject(handle) ? handle.setBlocking : undefined;
  if (typeof setBlocking === 'function') Reflect.apply(setBlocking, handle, [false]);
}

type Format = 'bold' | 'red' | 'green' | 'yellow' | 'magenta' | 'cyan' | 'grey';

export function paint(text: string, format: Format | undefined, { colour }: Style): string {
  return colour && format !== undefined ? styleText(format, text, { validateStream: false }) : text;
}

export function bold(text: string, style: Style): string {
  return paint(text, 'bold', style);
}

const CLEAR_LINE = '\r\u001B[K';

/** Shows progress on the current line of a terminal, and nowhere else; an empty text clears it. */
export function createProgress(notices: Writable, command: string): (text: string) => void {
  if (!('isTTY' in notices) || notices.isTTY !== true) return () => {};
  return (text) => notices.write(`${CLEAR_LINE}${text === '' ? '' : `${command}: ${text}`}`);
}

/** Characters that control or reorder a terminal, and so could forge or hide lines. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const UNSAFE = /[\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/g;

/** Removes these characters from a text. Tabs become spaces. */
export function stripControls(text: string): string {
  return text.replaceAll('\t', '    ').replace(UNSAFE, '');
}

/** Writes these characters as JSON escapes, in one line of text from a client, a file or an argument. */
export function escapeControls(text: string): string {
  return text.replace(UNSAFE, escapeCharacter);
}

export function escapeLines(text: string): string {
  return text.split('\n').map(escapeControls).join('\n');
}

export function formatNotice(text: string): string {
  return `petstore-mock: ${escapeControls(text)}\n`;
}

export function indent(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}\n`).join('');
}
