/** Spaces between two columns. */
const GAP = 2;

/**
 * Lays out rows of text in columns without borders. Cells that do not fit wrap at spaces.
 *
 * @param columns the width of every column but the last, which takes the rest
 */
export function renderTable(
  rows: readonly (readonly string[])[],
  { width, columns, indent = 2 }: { width: number; columns: readonly number[]; indent?: number },
): string {
  const left = columns.reduce((sum, column) => sum + column + GAP, indent);
  const widths = [...columns, width - left];
  return rows.map((row) => renderRow(row, widths, indent)).join('');
}

function renderRow(row: readonly string[], widths: readonly number[], indent: number): string {
  const cells = row.map((cell, column) => wrap(cell, widths[column] ?? 0));
  const height = Math.max(...cells.map((lines) => lines.length));
  let text = '';
  for (let line = 0; line < height; line += 1) {
    const parts = cells.map((lines, column) => (lines[line] ?? '').padEnd(widths[column] ?? 0));
    text += `${(' '.repeat(indent) + parts.join(' '.repeat(GAP))).trimEnd()}\n`;
  }
  return text;
}

/** Breaks text into lines at spaces. A word longer than a line gets its own line. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
