import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/server/files.ts';

/** The pages of docs/, as paths from the package's root. */
export const DOCS = readdirSync(join(packageRoot, 'docs'))
  .filter((file) => file.endsWith('.md'))
  .map((file) => `docs/${file}`);

export function readPage(file: string): string {
  return readFileSync(join(packageRoot, file), 'utf8');
}

/** The text under a heading, up to the next heading of the same or a higher level. */
export function section(page: string, title: string): string {
  const [heading, marks = ''] = new RegExp(`^(#+) ${title}$`, 'm').exec(page) ?? [];
  if (heading === undefined) throw new Error(`The page has no heading "${title}".`);
  const rest = page.slice(page.indexOf(`${heading}\n`) + heading.length);
  const end = rest.search(new RegExp(`^#{1,${marks.length}} `, 'm'));
  return end < 0 ? rest : rest.slice(0, end);
}

export interface Block {
  /** The words after the opening fence: a language, and perhaps a file name. */
  readonly info: string;
  readonly text: string;
  /** Whether only blank lines separate it from the block before it. */
  readonly follows: boolean;
}

/** The fenced blocks of a text, in order. */
export function allBlocks(text: string): Block[] {
  let end = 0;
  return [...text.matchAll(/^```([^\n]*)\n(.*?)^```$/gms)].map((match) => {
    const [fence, info = '', inside = ''] = match;
    const follows = end > 0 && text.slice(end, match.index).trim() === '';
    end = match.index + fence.length;
    return { info, text: inside, follows };
  });
}

/** The texts of the blocks whose fence says exactly this. */
export function blocks(text: string, info: string): string[] {
  return allBlocks(text).flatMap((block) => (block.info === info ? [block.text] : []));
}

/** The cells of a line of a table. */
function cells(text: string): string[] {
  return text
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());
}

interface Table {
  /** The heading above the table. */
  readonly under: string;
  /** The first columns, which come from the code. A page can have more of its own. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A page in which the rows of a table are those of the code. The page's own columns stay. */
export function withTable(page: string, { under, columns, rows }: Table): string {
  const old = tableOf(section(page, under), columns[0] ?? '');
  const [head = '', , ...lines] = old;
  const own = new Map(lines.map((line) => [cells(line)[0], cells(line).slice(columns.length)]));
  const titles = [...columns, ...cells(head).slice(columns.length)];
  if (new Set(titles).size < titles.length) throw new Error(`Repeated titles under ${under}.`);
  const written = [
    titles,
    ...rows.map((row) => titles.map((_, at) => [...row, ...(own.get(row[0]) ?? [])][at] ?? '')),
  ];
  const widths = titles.map((_, at) => Math.max(3, ...written.map((row) => row[at]?.length ?? 0)));
  const [first = '', ...others] = written.map((row) =>
    line(row.map((cell, at) => cell.padEnd(widths[at] ?? 0))),
  );
  const table = [first, line(widths.map((width) => '-'.repeat(width))), ...others];
  return page.replace(old.join('\n'), () => table.join('\n'));
}

function line(row: readonly string[]): string {
  return `| ${row.join(' | ')} |`;
}

/** The lines of the first table with this first column. */
function tableOf(text: string, firstColumn: string): string[] {
  const tables = text.split(/\n{2,}/).filter((paragraph) => paragraph.startsWith('|'));
  const found = tables.find((table) => cells(table.split('\n', 1)[0] ?? '')[0] === firstColumn);
  if (found === undefined) throw new Error(`There is no table with the column "${firstColumn}".`);
  return found.trimEnd().split('\n');
}

/** The cells of a table, row by row, without its titles. */
export function tableRows(text: string, firstColumn: string): string[][] {
  return tableOf(text, firstColumn).slice(2).map(cells);
}

export function code(text: string | number): string {
  return `\`${text}\``;
}

/** The names that links use for the headings of a page. */
export function anchors(page: string): string[] {
  return [...page.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

export interface Link {
  /** Empty if the link stays on its page. */
  readonly file: string;
  readonly anchor: string | undefined;
}

/** The links of a page to files of this project. */
export function links(page: string): Link[] {
  return [...page.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^\w+:/.test(target)) return [];
    const [file = '', anchor] = target.split('#');
    return [{ file, anchor }];
  });
}
