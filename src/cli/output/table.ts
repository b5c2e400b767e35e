import { stripVTControlCharacters } from 'node:util';

/** Spaces between two columns. */
const GAP = 2;

type Rows = readonly (readonly string[])[];

interface Layout {
  readonly width: number;
  /** The width of every column but the last, which takes the rest; by default that of its widest cell. */
  readonly columns?: readonly number[];
  readonly indent?: number;
}

/** Lays out rows of text in columns without borders. Cells that do not fit wrap at spaces. */
export function renderTable(
  rows: Rows,
  { width, columns = widestCells(rows), indent = 2 }: Layout,
): string {
  const left = columns.reduce((sum, column) => sum + column + GAP, indent);
  const widths = [...columns, width - left];
  return rows.map((row) => renderRow(row, widths, indent)).join('');
}

function widestCells(rows: Rows): number[] {
  const [first = []] = rows;
  const lengths = (column: number) => rows.map((row) => lengthOf(row[column] ?? ''));
  return first.slice(0, -1).map((_, column) => Math.max(...lengths(column)));
}

function renderRow(row: readonly string[], widths: readonly number[], indent: number): string {
  const cells = row.map((cell, column) => wrap(cell, widths[column] ?? 0));
  const height = Math.max(...cells.map((lines) => lines.length));
  let text = '';
  for (let line = 0; line < height; line += 1) {
    const parts = cells.map((lines, column) => padded(lines[line] ?? '', widths[column] ?? 0));
    text += `${(' '.repeat(indent) + parts.join(' '.repeat(GAP))).trimEnd()}\n`;
  }
  return text;
}

/** Breaks text into lines at spaces. A word longer than a line gets its own line. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && lengthOf(line) + 1 + lengthOf(word) > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - lengthOf(text)));
}

/** The columns of a text, without its colours. */
function lengthOf(text: string): number {
  return stripVTControlCharacters(text).length;
}
