import { OPERATION_IDS, operationShape } from '../../core/contract/operations.ts';
import { howToGet } from '../../core/sandbox/coverage.ts';
import type {
  CoverageReport,
  ReplyCoverage,
  ShownCount,
} from '../../core/sandbox/report-shapes.ts';
import { packageVersion } from '../../server/files.ts';

export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What a template accepts. Strings are escaped, and lists are written line by line. */
type Part = string | number | Markup | readonly Part[];

export function markup(template: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(String.raw({ raw: template }, ...parts.map(escapePart)));
}

function escapePart(part: Part): string {
  if (part instanceof Markup) return part.text;
  return typeof part === 'object' ? part.map(escapePart).join('\n') : escapeMarkup(String(part));
}

const NOT_IN_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** Text for XML and HTML, attributes included. Characters that XML cannot hold become U+FFFD. */
export function escapeMarkup(text: string): string {
  return text
    .replaceAll(NOT_IN_XML, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

export interface Card {
  readonly title: string;
  readonly about: string;
  readonly lines: readonly string[];
}

export function renderCoveragePage(coverage: CoverageReport, findings: readonly Card[]): string {
  const { documented, assumed, totals } = coverage;
  const tiles = [
    ['documented replies', totals.documented],
    ['assumed replies', totals.assumed],
  ] as const;
  const missing = documented.filter(({ count }) => count === 0);
  return markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${TITLE}</title><style>${new Markup(STYLE)}</style></head><body>
<main>
<h1>${TITLE}</h1>
<div class="tiles">
${tiles.map(
  ([name, { shown, total, percent }]) =>
    markup`<div class="tile"><b>${shown}</b> of ${total} ${name}<i><i style="width:${percent}%"></i></i></div>`,
)}
</div>
${renderGrid(coverage)}
${renderCards('Never shown', missing.map(createCard), 'Every documented reply was shown.')}
${renderCards('Findings', findings, 'No findings.')}
${renderSection(
  'Replies that an assumption leads to',
  ['Reply', 'Shown', 'Description', 'Options'],
  assumed.map((it) => [formatReplyName(it), it, it.description, markup`${it.grounds.map(code)}`]),
)}
</main>
<footer>petstore-mock ${packageVersion()}. ${code('default #3')} is exchange 3 in the journal of the sandbox ${code('default')}. The commands are for a mock on its default port; ${code('petstore-mock responses')} lists other ways to get a reply.</footer>
</body></html>
`.text;
}

const TITLE = 'What the client was shown';

function formatReplyName({
  operation,
  status,
}: Pick<ReplyCoverage, 'operation' | 'status'>): string {
  return `${operation} ${status}`;
}

function createCard(reply: ReplyCoverage): Card {
  return { title: formatReplyName(reply), about: reply.description, lines: [howToGet(reply)] };
}

function renderGrid({ documented, assumed }: CoverageReport): Markup {
  const all = [...documented, ...assumed];
  const columns = [...new Set(all.map(({ status }) => status))].sort((a, b) => a - b);
  const lines = OPERATION_IDS.map((id) => {
    const { method, path } = operationShape(id);
    const cells = columns.map((status) => {
      const reply = all.find((it) => it.operation === id && it.status === status);
      return reply === undefined ? '' : renderCount(reply, documented.includes(reply));
    });
    return [markup`${id}<small>${method} ${path}</small>`, ...cells];
  });
  return markup`${renderTable('matrix', 'Replies by operation and status', ['Operation', ...columns], lines)}
<p class="legend"><span class="doc hit">3</span> documented, shown 3 times <span class="doc miss">0</span> documented, never shown <span class="hit">3</span> assumed, shown 3 times <span>·</span> assumed, not shown</p>`;
}

function renderCount(reply: ReplyCoverage, isDocumented: boolean): Markup {
  const { count, description } = reply;
  const name = formatReplyName(reply);
  const gap = markup`<a href="#${formatAnchor(name)}" aria-label="0: how to get ${name}">0</a>`;
  const kind = `${isDocumented ? 'doc ' : ''}${count > 0 ? 'hit' : 'miss'}`;
  const content = isDocumented && count === 0 ? gap : count || '·';
  return markup`<span class="${kind}" title="${name}: ${description}">${content}</span>`;
}

function renderCards(title: string, cards: readonly Card[], none: string): Markup {
  const content =
    cards.length === 0
      ? markup`<p class="all">${none}</p>`
      : cards.map(
          ({ title, about, lines }) =>
            markup`<article class="card" id="${formatAnchor(title)}"><h3>${code(title)}</h3>
<p>${about}</p>
<pre>${code(lines.join('\n'))}</pre></article>`,
        );
  return markup`<section><h2>${title}</h2>
${content}
</section>`;
}

type Line = readonly [name: string, shown: ShownCount, ...texts: (string | Markup)[]];

function renderSection(title: string, heads: readonly string[], lines: readonly Line[]): Markup {
  const rows = lines.map(([name, { count, first }, ...texts]) => {
    const by = first === undefined ? '' : ` (first by ${first.sandbox} #${first.exchange})`;
    const shown =
      count === 0
        ? markup`<span class="no">never</span>`
        : markup`<span class="yes">${count} times${by}</span>`;
    return [code(name), shown, ...texts];
  });
  return markup`<section><h2>${title}</h2>
${renderTable('list', title, heads, rows)}
</section>`;
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

function code(text: string): Markup {
  return markup`<code>${text}</code>`;
}

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
