import { stripVTControlCharacters } from 'node:util';
import { eastAsianWidth } from 'get-east-asian-width';
import { bold, type Style } from './terminal.ts';

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
    const widest = (texts: readonly string[]) =>
      texts.reduce((columns, text) => Math.max(columns, countColumns(text)), 0);
    const words = cells.flatMap((cell) => cell.split(' '));
    return Math.max(widest(words), Math.min(widest(cells), Math.floor(width / 3)));
  });
  const left = columns.reduce((sum, column) => sum + column + GAP, indent);
  const lines = rows.flatMap((row) => {
    const cells = row.map((cell, column) => wrap(cell, columns[column] ?? width - left));
    const height = Math.max(...cells.map((texts) => texts.length));
    return Array.from({ length: height }, (_, line) => {
      const texts = cells.map((cell, column) => pad(cell[line] ?? '', columns[column] ?? 0));
      return `${' '.repeat(indent)}${texts.join(' '.repeat(GAP))}`.trimEnd();
    });
  });
  return lines.map((line) => `${line}\n`).join('');
}

export function renderSection(title: string, rows: Rows, style: Style): string {
  return `${bold(title, style)}\n${renderTable(rows, style)}`;
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

/** Characters that take no column: they combine with those beside them. */
const COMBINING = /[\p{Mn}\p{Me}\p{Cf}]/gu;

function countColumns(text: string): number {
  let columns = 0;
  for (const character of stripVTControlCharacters(text).replace(COMBINING, '')) {
    columns += eastAsianWidth(Number(character.codePointAt(0)));
  }
  return columns;
}
