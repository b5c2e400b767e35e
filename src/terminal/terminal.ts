import type { Writable } from 'node:stream';
import { stripVTControlCharacters, styleText } from 'node:util';
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

const GAP = 2;

type Rows = readonly (readonly string[])[];

/**
 * Lays out rows of text in columns without borders. A column but the last is as wide as its widest cell,
 * if that leaves room; cells that do not fit wrap at spaces.
 */
export function renderTable(rows: Rows, { width }: Pick<Style, 'width'>, indent = 2): string {
  const [first = []] = rows;
  const columns = first.slice(0, -1).map((_, column) => {
    const cells = rows.map((row) => row[column] ?? '');
    const widest = (texts: readonly string[]) => Math.max(...texts.map(countColumns));
    const words = cells.flatMap((cell) => cell.split(' '));
    return Math.max(widest(words), Math.min(widest(cells), Math.floor(width / 3)));
  });
  const left = columns.reduce((sum, column) => sum + column + GAP, indent);
  return rows.map((row) => renderRow(row, [...columns, width - left], indent)).join('');
}

export function renderSection(title: string, rows: Rows, style: Style): string {
  return `${bold(title, style)}\n${renderTable(rows, style)}`;
}

function renderRow(row: readonly string[], widths: readonly number[], indent: number): string {
  const cells = row.map((cell, column) => wrap(cell, widths[column] ?? 0));
  const height = Math.max(...cells.map((lines) => lines.length));
  let text = '';
  for (let line = 0; line < height; line += 1) {
    const parts = cells.map((lines, column) => {
      const isLast = column === cells.length - 1;
      return isLast ? (lines[line] ?? '') : pad(lines[line] ?? '', widths[column] ?? 0);
    });
    text += `${(' '.repeat(indent) + parts.join(' '.repeat(GAP))).trimEnd()}\n`;
  }
  return text;
}

/** Breaks text into lines at spaces. A word longer than a line gets its own line. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && countColumns(line) + 1 + countColumns(word) > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - countColumns(text)));
}

function countColumns(text: string): number {
  return stripVTControlCharacters(text).length;
}

export function indent(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}\n`).join('');
}
