import { Markup, markup, type Part } from './markup.ts';
import type { Grid, Prose, Report, ReportRow, Section, Tile, Tone } from './report.ts';

export function renderHtml({ title, intro, tiles, grid, sections, footer = '' }: Report): string {
  return markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${new Markup(STYLE)}</style></head><body>
<main>
<h1>${title}</h1>
${intro.map((text) => markup`<p>${prose(text)}</p>`)}
<div class="tiles">
${tiles.map(renderTile)}
</div>
${grid === undefined ? '' : renderGrid(grid)}
${sections.map(renderSection)}
</main>
<footer>${prose(footer)}</footer>
</body></html>
`.text;
}

function renderTile({ name, shown, total }: Tile): Markup {
  const percent = total === 0 ? 0 : Math.floor((100 * shown) / total);
  return markup`<div class="tile"><b>${shown}</b> of ${total} ${name}<i><i style="width:${percent}%"></i></i></div>`;
}

function renderGrid({ caption, columns, rows }: Grid): Markup {
  const lines = rows.map(({ name, detail, cells }) => [
    markup`${name}<small>${detail}</small>`,
    ...cells.map((cell) => {
      if (cell === undefined) return '';
      const { count, wanted, title, row } = cell;
      const gap = markup`<a href="#${formatAnchor(row)}" aria-label="0: how to get ${row}">0</a>`;
      const kind = `${wanted ? 'doc ' : ''}${count > 0 ? 'hit' : 'miss'}`;
      const content = wanted && count === 0 ? gap : count || '·';
      return markup`<span class="${kind}" title="${title}">${content}</span>`;
    }),
  ]);
  return markup`${renderTable('matrix', caption, ['Operation', ...columns], lines)}
<p class="legend"><span class="doc hit">3</span> documented, shown 3 times <span class="doc miss">0</span> documented, never shown <span class="hit">3</span> assumed, shown 3 times <span>·</span> assumed, not shown</p>`;
}

function renderSection(section: Section): Markup {
  const { title, none = '' } = section;
  const content = renderContent(section);
  return markup`<section><h2>${title}</h2>
${content.length > 0 ? content : markup`<p class="all">${none}</p>`}
</section>`;
}

function renderContent({ title, layout, columns = [], rows }: Section): readonly Part[] {
  if (layout === 'names') {
    return [markup`<ul>${rows.map((row) => markup`<li>${code(row.title)}</li>`)}</ul>`];
  }
  const cards = rows.filter(({ output }) => output !== undefined).map(renderCard);
  if (layout === 'cards' || rows.length === 0) return cards;
  return [...cards, renderTable('list', title, columns, rows.map(renderLine))];
}

function renderCard({ title, about = [], output = [] }: ReportRow): Markup {
  return markup`<article class="card" id="${formatAnchor(title)}"><h3>${code(title)}</h3>
${about.map((text) => markup`<p>${prose(text)}</p>`)}
<pre>${code(output.join('\n'))}</pre></article>`;
}

const CLASSES: Readonly<Partial<Record<Tone, string>>> = { red: 'no', green: 'yes' };

function renderLine({
  cells: [first = '', ...cells] = [],
  tonedCell,
  tone,
  about = [],
}: ReportRow): Part[] {
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

function formatAnchor(title: string): string {
  return title.replaceAll(/[^\w-]+/g, '-');
}

/** A table whose first column names each row. It scrolls on its own if the screen is too narrow. */
function renderTable(
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

function prose(text: Prose): Markup {
  const parts = text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? markup`${part}` : code(part)));
  return new Markup(parts.map((part) => part.text).join(''));
}

function code(text: string): Markup {
  return markup`<code>${text}</code>`;
}

/** The style of every page, for light and dark screens of any width and for paper. */
const STYLE = `
:root{color-scheme:light dark;--ink:#1c1917;--quiet:#655f5a;--paper:#fff;--card:#f6f5f3;--line:#dedad5;--good:#166534;--good-soft:#d6f0de;--bad:#a63208;--bad-soft:#fdeadf}
@media screen and (prefers-color-scheme:dark){:root{--ink:#eceae7;--quiet:#a39d96;--paper:#171615;--card:#211f1e;--line:#3a3735;--good:#5fd38a;--good-soft:#16351f;--bad:#ff9a5c;--bad-soft:#3b2114}}
*{box-sizing:border-box}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:72rem;margin:0 auto;padding:clamp(1rem,4vw,2.5rem) clamp(.75rem,3vw,1.5rem) 4rem;overflow-wrap:anywhere}
h1{font-size:1.5rem;margin:0 0 1.25rem}h2{font-size:1.15rem;margin:3rem 0 .5rem}h3{font-size:1rem;display:inline;margin:0}
p{margin:.4rem 0 1rem;color:var(--quiet);max-width:46rem}small,.quiet{color:var(--quiet);font-weight:400}
code,pre{font:13px/1.5 ui-monospace,monospace;unicode-bidi:isolate}pre{margin:0;white-space:pre-wrap}h3 code{font-size:inherit;font-weight:inherit}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.75rem;margin-bottom:2rem}
.tile{background:var(--card);border-radius:.6rem;padding:1rem 1.25rem;color:var(--quiet)}
.tile b{font-size:2.6rem;line-height:1;color:var(--ink);margin-right:.15rem}
.tile>i{display:block;height:.4rem;border-radius:1rem;background:var(--line);margin-top:.75rem;overflow:hidden}
.tile i i{display:block;height:100%;background:var(--good)}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}caption{text-align:left;color:var(--quiet);padding-bottom:.4rem}
.matrix td,.matrix th{padding:.2rem;text-align:center;font-variant-numeric:tabular-nums}
thead th{color:var(--quiet);font-weight:400}
.matrix th:first-child{text-align:left;white-space:nowrap;padding-right:1rem}
.matrix small{display:block;font-size:12px}
.matrix td span,.legend span{display:block;min-width:2.2rem;padding:.45rem .2rem;border-radius:.35rem;color:var(--quiet)}
.matrix a{color:inherit;display:block}
.matrix .hit,.legend .hit{background:var(--card);color:var(--ink)}
.matrix .doc.hit,.legend .doc.hit{background:var(--good-soft);color:var(--good);font-weight:600}
.matrix .doc.miss,.legend .doc.miss{background:var(--bad-soft);color:var(--bad);font-weight:700;outline:2px solid var(--bad);outline-offset:-2px}
.legend{font-size:13px;max-width:none}.legend span{display:inline-block;text-align:center;padding:.1rem;margin:0 .3rem 0 1rem}.legend span:first-child{margin-left:0}
article{break-inside:avoid}
.card{background:var(--card);border-left:4px solid var(--bad);border-radius:.35rem;padding:.75rem 1rem;margin:.75rem 0}
.card:target{outline:2px solid var(--bad)}
.card p,th p,td p{margin:.25rem 0 0;font-weight:400}
.yes,.all{color:var(--good)}.no{color:var(--bad)}
.list td,.list th{text-align:left;padding:.3rem 1rem .3rem 0;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:break-word;min-width:3rem}
footer{margin-top:3rem;color:var(--quiet);font-size:13px}
@media print{:root{--ink:#000;--paper:#fff;--card:#fff;--line:#bbb;color-scheme:light}*{print-color-adjust:exact}body{padding:0;font-size:11pt}.tile{border:1px solid var(--line)}}
`.trim();
