import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/package.ts';

export function readPage(file: string): string {
  return readFileSync(join(packageRoot, file), 'utf8');
}

/** What stands under a heading, as far as the next heading of the same level or a higher one. */
export function section(page: string, title: string): string {
  const start = page.search(new RegExp(`^#+ ${title}$`, 'm'));
  if (start < 0) throw new Error(`The page has no heading "${title}".`);
  const [heading = ''] = page.slice(start).split('\n', 1);
  const rest = page.slice(start + heading.length);
  const level = heading.search(/[^#]/);
  const end = rest.search(new RegExp(`^#{1,${level}} `, 'm'));
  return end < 0 ? rest : rest.slice(0, end);
}

export interface Block {
  /** What the fence names: a language, and perhaps more. */
  readonly info: string;
  readonly text: string;
}

/** The fenced blocks of a text, in their order. */
export function allBlocks(text: string): Block[] {
  return text.split(/^```/m).flatMap((part, index) => {
    const [info = '', ...lines] = part.split('\n');
    return index % 2 === 1 ? [{ info, text: lines.join('\n') }] : [];
  });
}

/** The blocks whose fence says this and nothing else. */
export function blocks(text: string, info: string): string[] {
  return allBlocks(text).flatMap((block) => (block.info === info ? [block.text] : []));
}

export function onlyBlock(text: string, info: string): string {
  const [block, ...others] = blocks(text, info);
  if (block === undefined || others.length > 0) throw new Error(`Is there one block of ${info}?`);
  return block;
}

/** The rows of the tables that have this first column, without the row of titles. */
export function tableRows(text: string, firstColumn: string): string[][] {
  return text.split('\n\n').flatMap((paragraph) => {
    const lines = paragraph.split('\n').filter((line) => line.startsWith('|'));
    const rows = lines.map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
    return rows[0]?.[0] === firstColumn ? rows.slice(2) : [];
  });
}

export function code(text: string | number): string {
  return `\`${text}\``;
}

/** What the headings of a page can be linked to by. */
export function anchors(page: string): string[] {
  return [...page.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

export interface Link {
  /** Empty where the link stays in its page. */
  readonly file: string;
  readonly anchor: string | undefined;
}

/** The links of a page that lead to files of this project. */
export function links(page: string): Link[] {
  return [...page.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^\w+:/.test(target)) return [];
    const [file = '', anchor] = target.split('#');
    return [{ file, anchor }];
  });
}
