import type { Report, Row, Section } from '../../report/report.ts';
import { escaped } from './escaped.ts';
import { renderTable, wrap } from './table.ts';
import { bold, paint, type Style } from './terminal.ts';

/** A report for a person: its tables, then what failed with its output, then the result. */
export function renderReport({ sections, summary }: Report, style: Style): string {
  return [
    ...sections.map((it) => renderSection(it, style)),
    summary.map((it) => `${it}\n`).join(''),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function renderSection({ title, layout, widths, rows, none }: Section, style: Style): string {
  if (rows.length === 0) return none === '' ? '' : `${bold(title, style)}\n  ${none}\n`;
  if (layout === 'names') {
    const names = wrap(rows.map((row) => row.title).join(', '), style.width - 2);
    return `${title}:\n${indented(names)}`;
  }
  const columns = widths === undefined ? {} : { columns: widths };
  const lines = rows.map((row) => cellsOf(row, style));
  const table = renderTable(lines, { width: style.width, ...columns });
  const cards = rows
    .filter(({ output }) => output !== undefined)
    .map((row) => `${bold(row.title, style)}\n${indented(linesOf(row))}`);
  return [`${bold(title, style)}\n${table}`, ...cards].join('\n');
}

function linesOf({ output = [] }: Row): string[] {
  return output.flatMap((text) => text.split('\n')).map(escaped);
}

/** The cells of a row. The first word of the one that says how it went has its colour. */
function cellsOf({ cells, tonedCell, tone }: Row, style: Style): string[] {
  return cells.map((cell, index) => {
    const text = escaped(cell);
    if (index !== tonedCell || tone === undefined) return text;
    return text.replace(/^[^:;]*/, (verdict) => paint(verdict, tone, style));
  });
}

/** Lines below a title. */
export function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}\n`).join('');
}
