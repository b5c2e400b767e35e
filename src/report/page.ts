import { Markup, markup, type Part } from './markup.ts';
import type { Grid, Prose, Report, Row, Section, Tile, Tone } from './report.ts';
import { STYLE } from './style.ts';

/** A report as a self-contained page. */
export function renderPage({ title, intro, tiles, grid, sections, footer = '' }: Report): string {
  return markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${new Markup(STYLE)}</style></head><body>
<main>
<h1>${title}</h1>
${intro.map((text) => markup`<p>${prose(text)}</p>`)}
<div class="tiles">
${tiles.map(tileOf)}
</div>
${grid === undefined ? '' : gridOf(grid)}
${sections.map(sectionOf)}
</main>
<footer>${prose(footer)}</footer>
</body></html>
`.text;
}

function tileOf({ name, shown, total }: Tile): Markup {
  const percent = total === 0 ? 0 : Math.floor((100 * shown) / total);
  return markup`<div class="tile"><b>${shown}</b> of ${total} ${name}<i><i style="width:${percent}%"></i></i></div>`;
}

function gridOf({ caption, columns, rows }: Grid): Markup {
  const lines = rows.map(({ name, detail, cells }) => [
    markup`${name}<small>${detail}</small>`,
    ...cells.map((cell) => {
      if (cell === undefined) return '';
      const { count, wanted, title, row } = cell;
      const gap = markup`<a href="#${idOf(row)}" aria-label="0: how to get ${row}">0</a>`;
      const kind = `${wanted ? 'doc ' : ''}${count > 0 ? 'hit' : 'miss'}`;
      const content = wanted && count === 0 ? gap : count || '·';
      return markup`<span class="${kind}" title="${title}">${content}</span>`;
    }),
  ]);
  return markup`${table('matrix', caption, ['Operation', ...columns], lines)}
<p class="legend"><span class="doc hit">3</span> documented, shown 3 times <span class="doc miss">0</span> documented, never shown <span class="hit">3</span> assumed, shown 3 times <span>·</span> assumed, not shown</p>`;
}

function sectionOf(section: Section): Markup {
  const { title, none = '' } = section;
  const content = contentOf(section);
  return markup`<section><h2>${title}</h2>
${content.length > 0 ? content : markup`<p class="all">${none}</p>`}
</section>`;
}

function contentOf({ title, layout, columns = [], rows }: Section): readonly Part[] {
  if (layout === 'names') {
    return [markup`<ul>${rows.map((row) => markup`<li>${code(row.title)}</li>`)}</ul>`];
  }
  const cards = rows.filter(({ output }) => output !== undefined).map(cardOf);
  if (layout === 'cards' || rows.length === 0) return cards;
  return [...cards, table('list', title, columns, rows.map(lineOf))];
}

function cardOf({ title, about = [], output = [] }: Row): Markup {
  return markup`<article class="card" id="${idOf(title)}"><h3>${code(title)}</h3>
${about.map((text) => markup`<p>${prose(text)}</p>`)}
<pre>${code(output.join('\n'))}</pre></article>`;
}

const CLASSES: Readonly<Partial<Record<Tone, string>>> = { red: 'no', green: 'yes' };

function lineOf({ cells: [first = '', ...cells] = [], tonedCell, tone, about = [] }: Row): Part[] {
  const head = [code(first), ...about.map((text) => markup`<p>${prose(text)}</p>`)];
  return [
    head,
    ...cells.map((cell, index) =>
      index + 1 === tonedCell && tone !== undefined
        ? markup`<span class="${CLASSES[tone] ?? ''}">${cell}</span>`
        : prose(cell),
    ),
  ];
}

function idOf(title: string): string {
  return title.replaceAll(/[^\w-]+/g, '-');
}

/** A table whose first column names each row. It scrolls on its own if the screen is too narrow. */
function table(
  kind: 'matrix' | 'list',
  caption: string,
  heads: readonly Part[],
  rows: readonly (readonly Part[])[],
): Markup {
  return markup`<div class="wide" role="region" aria-label="${caption}" tabindex="0"><table class="${kind}">
<caption>${caption}</caption>
<thead><tr>${heads.map((head) => markup`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>
${rows.map(([name = '', ...cells]) => markup`<tr><th scope="row">${name}</th>${cells.map((cell) => markup`<td>${cell}</td>`)}</tr>`)}
</tbody></table></div>`;
}

/** Text with code between backticks. */
function prose(text: Prose): Markup {
  const parts = text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? markup`${part}` : code(part)));
  return new Markup(parts.map((part) => part.text).join(''));
}

function code(text: string): Markup {
  return markup`<code>${text}</code>`;
}
