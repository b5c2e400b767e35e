import { OPERATION_IDS, operationShape } from '../contract/operations.ts';
import { escapeMarkup as e, howToGet, type ReportData } from './data.ts';

const STYLE = `:root{color-scheme:light dark;--bad:#c2410c;--good:#15803d;--line:#8884;--soft:#8882}
@media(prefers-color-scheme:dark){:root{--bad:#fb923c;--good:#4ade80}}
body{font:16px/1.55 system-ui,sans-serif;max-width:56rem;margin:3rem auto;padding:0 1.25rem}
h1{font-size:1.4rem;font-weight:600}h2{font-size:1.1rem;margin-top:2.5rem}.big{font-size:4.5rem;line-height:1;font-weight:700;margin:1rem 0 .5rem}
.row{display:grid;grid-template-columns:11rem 1fr auto;gap:1rem;align-items:center;padding:.35rem 0}
.bar{height:.7rem;border-radius:1rem;background:var(--soft);overflow:hidden}.bar i{display:block;height:100%;background:var(--good)}
.miss{border-left:4px solid var(--bad);padding:.4rem 1rem;margin:.8rem 0;background:var(--soft)}
code{font:13px/1.5 ui-monospace,monospace;overflow-wrap:anywhere}table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:.4rem .6rem .4rem 0;border-bottom:1px solid var(--line);vertical-align:top}.no{color:var(--bad)}.yes{color:var(--good)}`;

/** One page that needs nothing else. */
export function renderHtml({ coverage, findings }: ReportData): string {
  const { documented, cases, assumed, totals } = coverage;
  const bars = OPERATION_IDS.map((id) => {
    const all = documented.filter((it) => it.operation === id);
    const shown = all.filter(({ count }) => count > 0).length;
    const width = Math.round((100 * shown) / all.length);
    const { method, path } = operationShape(id);
    return `<div class="row"><span title="${e(`${method} ${path}`)}">${e(id)}</span><span class="bar"><i style="width:${width}%"></i></span><span>${shown} of ${all.length}</span></div>`;
  });
  const missing = documented.filter(({ count }) => count === 0);
  const misses = missing.map(
    (it) =>
      `<div class="miss"><strong>${e(it.operation)} ${it.status}</strong> ${e(it.description)}<br><code>${e(howToGet(it))}</code></div>`,
  );
  const found = findings.findings.map(
    (it) =>
      `<tr><td><strong>${e(it.code)}</strong></td><td>${e(it.message)} ${e(it.advice)}<br><code>#${it.exchange} in ${e(it.sandbox)}: ${e(it.method)} ${e(it.target)}</code></td></tr>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>What the client was shown</title><style>${STYLE}</style></head><body>
<h1>How much of the service has the client seen?</h1>
<p class="big">${totals.documented.percent}%</p>
<p>${totals.documented.shown} of ${totals.documented.total} documented replies, ${totals.cases.shown} of ${totals.cases.total} cases within them, ${totals.assumed.shown} of ${totals.assumed.total} assumed replies.</p>
${bars.join('\n')}
<h2>Never shown</h2>
${misses.join('\n') || '<p>Every documented reply was shown.</p>'}
<h2>Findings</h2>
${found.length === 0 ? '<p>None.</p>' : `<table>${found.join('\n')}</table>`}
<h2>Cases</h2>
<table>${cases.map((it) => row(it.count, `${it.operation} ${it.status}`, it.sentence)).join('\n')}</table>
<h2>Assumed replies</h2>
<table>${assumed.map((it) => row(it.count, `${it.operation} ${it.status}`, `${it.description} (${it.grounds.join(', ')})`)).join('\n')}</table>
</body></html>
`;
}

function row(count: number, name: string, text: string): string {
  const mark = count > 0 ? '<td class="yes">shown</td>' : '<td class="no">not shown</td>';
  return `<tr>${mark}<td>${e(name)}</td><td>${e(text)}</td></tr>`;
}
