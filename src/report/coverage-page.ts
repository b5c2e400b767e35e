import { DOCUMENTED_REPLIES, type DocumentedCase, type KnownReply } from '../contract/cases.ts';
import { OPERATION_IDS, type OperationId, operationShape } from '../contract/operations.ts';
import type { CoverageReport, ReplyCoverage, Shown } from '../evidence/coverage.ts';
import { packageVersion } from '../package.ts';
import {
  escapeMarkup as e,
  type FindingKind,
  findingKinds,
  howToGet,
  placeOf,
  type ReportData,
} from './data.ts';
import { STYLE } from './style.ts';

/** One page that needs nothing else: what is missing first, then all there is. */
export function renderHtml({ coverage, findings }: ReportData): string {
  const { documented, cases, assumed, totals } = coverage;
  const missing = documented.filter(({ count }) => count === 0);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>What the client was shown</title><style>${STYLE}</style></head><body>
<header>
<h1>What the client was shown</h1>
<div class="tiles">
${tile('documented replies', totals.documented)}
${tile('cases within them', totals.cases)}
${tile('assumed replies', totals.assumed)}
</div>
</header>
${matrix(coverage)}
<section><h2>Never shown</h2>
${missing.length === 0 ? '<p class="all">Every documented reply was shown.</p>' : neverShown(missing)}
</section>
<section><h2>Findings</h2>
${findings.total === 0 ? '<p class="all">None: the client did nothing that it should not do.</p>' : findingKinds(findings).map(findingCard).join('\n')}
</section>
<section><h2>Cases</h2>
<p>What the document tells apart within one reply. <span class="yes">✓</span> was shown, <span class="no">○</span> was not.</p>
<div class="columns">
${OPERATION_IDS.map((id) => casesOf(id, cases)).join('\n')}
</div></section>
<section><h2>Assumed replies</h2>
<p>Replies that the document does not show, and the <code>--assume</code> option that leads to each.</p>
<div class="wide"><table class="list">
${assumed.map(assumedRow).join('\n')}
</table></div></section>
<footer>petstore-mock ${e(packageVersion())}. An exchange is told by its sandbox and its number in the journal.</footer>
</body></html>
`;
}

function tile(name: string, { shown, total, percent }: CoverageReport['totals']['cases']): string {
  return `<div class="tile"><b>${shown}</b> of ${total} ${name}<i><i style="width:${percent}%"></i></i></div>`;
}

/** Every operation with every status: the whole interface at one glance. */
function matrix({ documented, assumed }: CoverageReport): string {
  const all = [...documented, ...assumed];
  const statuses = [...new Set(all.map(({ status }) => status))].sort((a, b) => a - b);
  const rows = OPERATION_IDS.map((id) => {
    const { method, path } = operationShape(id);
    const cells = statuses.map((status) =>
      cell(all.find((it) => it.operation === id && it.status === status)),
    );
    return `<tr><th scope="row">${e(id)}<small>${e(`${method} ${path}`)}</small></th>${cells.join('')}</tr>`;
  });
  const heads = statuses.map((status) => `<th scope="col">${status}</th>`);
  return `<div class="wide"><table class="matrix">
<thead><tr><th></th>${heads.join('')}</tr></thead>
<tbody>
${rows.join('\n')}
</tbody></table></div>
<p class="legend"><span class="doc hit">3</span> documented, shown 3 times <span class="doc miss">0</span> documented, never shown <span class="hit">3</span> assumed, shown <span>·</span> assumed, not shown</p>`;
}

function cell(reply: ReplyCoverage | undefined): string {
  if (reply === undefined) return '<td></td>';
  const { operation, status, description, count } = reply;
  const kind = DOCUMENTED.has(keyOf(reply)) ? 'doc ' : '';
  const title = e(`${operation} ${status}: ${description} ${firstOf(reply)}`);
  const isMissing = kind !== '' && count === 0;
  const text = isMissing ? `<a href="#${keyOf(reply)}">0</a>` : count || '·';
  return `<td><span class="${kind}${count > 0 ? 'hit' : 'miss'}" title="${title}">${text}</span></td>`;
}

function keyOf({ operation, status }: Pick<KnownReply, 'operation' | 'status'>): string {
  return `${operation}-${status}`;
}

const DOCUMENTED: ReadonlySet<string> = new Set(DOCUMENTED_REPLIES.map(keyOf));

function firstOf({ first }: Shown): string {
  if (first === undefined) return 'Never shown.';
  return `First by ${first.sandbox} #${first.exchange}.`;
}

function neverShown(missing: readonly ReplyCoverage[]): string {
  const cards = missing.map(
    (it) =>
      `<article class="missing" id="${keyOf(it)}"><div><h3>${e(it.operation)} ${it.status}</h3>${e(it.description)}</div><pre>${e(howToGet(it))}</pre></article>`,
  );
  return `<p>These get each from a mock at its usual place. <code>petstore-mock responses</code> lists the ways by the store's own state and by scenario.</p>
${cards.join('\n')}`;
}

/** Exchanges that are told of each kind of finding. */
const TOLD = 5;

function findingCard({ code, count, kept }: FindingKind): string {
  const told = kept
    .slice(0, TOLD)
    .map((it) => `<li>${e(it.message)}<code>${e(placeOf(it))}</code></li>`);
  const more = count - told.length;
  const rest = more > 0 ? `<p class="quiet">and ${more} more</p>` : '';
  return `<article class="finding"><h3>${e(code)} <b>${count}</b></h3> ${e(kept[0]?.advice ?? '')}<ul>${told.join('')}</ul>${rest}</article>`;
}

function casesOf(id: OperationId, cases: readonly (DocumentedCase & Shown)[]): string {
  const own = cases.filter(({ operation }) => operation === id);
  const shown = own.filter(({ count }) => count > 0).length;
  const items = own.map((it) => {
    const mark = it.count > 0 ? '<span class="yes">✓</span>' : '<span class="no">○</span>';
    return `<li title="${e(`${it.id}. ${firstOf(it)}`)}">${mark}<small>${it.status}</small><span>${e(it.sentence)}</span></li>`;
  });
  return `<article><h3>${e(id)} <small>${shown} of ${own.length}</small></h3><ul class="marks">${items.join('')}</ul></article>`;
}

function assumedRow(it: ReplyCoverage): string {
  const mark = it.count > 0 ? '<span class="yes">✓</span>' : '<span class="quiet">○</span>';
  const grounds = it.grounds.map((ground) => `<code>${e(ground)}</code>`).join(' ');
  return `<tr title="${e(firstOf(it))}"><td>${mark}</td><th scope="row">${e(it.operation)} ${it.status}</th><td>${e(it.description)}</td><td>${grounds}</td></tr>`;
}
