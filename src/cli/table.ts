/** Spaces between two columns. */
const GAP = 2;

/**
 * Lays out rows of text in columns, without lines. Cells that do not fit are wrapped at spaces; the
 * last column takes the width that is left.
 *
 * @param widest the most characters of every column but the last
 */
export function renderTable(
  rows: readonly (readonly string[])[],
  { width, widest, indent = 2 }: { width: number; widest: readonly number[]; indent?: number },
): string {
  const fixed = widest.map((most, column) =>
    Math.min(most, Math.max(0, ...rows.map((row) => row[column]?.length ?? 0))),
  );
  const left = indent + fixed.reduce((sum, columns) => sum + columns + GAP, 0);
  const widths = [...fixed, width - left];
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

/** Breaks a text into lines at spaces. A word that is longer than a line keeps one to itself. */
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
