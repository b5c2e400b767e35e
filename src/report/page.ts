import { Markup, markup, type Part } from './markup.ts';
import { STYLE } from './style.ts';

/** A share of something, shown as a bar. */
export interface Tile {
  readonly name: string;
  readonly shown: number;
  readonly total: number;
}

/** A self-contained page. */
export function renderPage({
  title,
  intro,
  tiles,
  content,
  footer,
}: {
  readonly title: string;
  readonly intro: Part;
  readonly tiles: readonly Tile[];
  readonly content: Part;
  readonly footer: Part;
}): string {
  return markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${new Markup(STYLE)}</style></head><body>
<main>
<h1>${title}</h1>
${intro}
<div class="tiles">
${tiles.map(tileOf)}
</div>
${content}
</main>
<footer>${footer}</footer>
</body></html>
`.text;
}

function tileOf({ name, shown, total }: Tile): Markup {
  const percent = total === 0 ? 0 : Math.floor((100 * shown) / total);
  return markup`<div class="tile"><b>${shown}</b> of ${total} ${name}<i><i style="width:${percent}%"></i></i></div>`;
}

/** A section; `none` replaces empty content. */
export function section(title: string, content: readonly Part[], none = ''): Markup {
  return markup`<section><h2>${title}</h2>
${content.length > 0 ? content : markup`<p class="all">${none}</p>`}
</section>`;
}

/** A table whose first column names each row. It scrolls on its own if the screen is too narrow. */
export function table(
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

/** Text as written in the contract, with code between backticks. */
export function prose(text: string): Markup {
  const parts = text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? markup`${part}` : code(part)));
  return new Markup(parts.map((part) => part.text).join(''));
}

export function code(text: string): Markup {
  return markup`<code>${text}</code>`;
}
