import { DOCUMENTED_REPLIES, type DocumentedCase, type KnownReply } from '../contract/cases.ts';
import { OPERATION_IDS, type OperationId, operationShape } from '../contract/operations.ts';
import { howToGet } from '../evidence/how-to-get.ts';
import type { CoverageReport, ReplyCoverage, Shown } from '../evidence/report-shapes.ts';
import { packageVersion } from '../package.ts';
import { type FindingKind, findingKinds, placeOf, type ReportData } from './data.ts';
import { type Markup, markup } from './markup.ts';
import { code, renderPage, section, table } from './page.ts';

/** Coverage and findings as a page: what is missing first, then everything. */
export function coveragePage({ coverage, findings }: ReportData): string {
  const { documented, cases, assumed, totals } = coverage;
  const missing = documented.filter(({ count }) => count === 0);
  return renderPage({
    title: 'What the client was shown',
    intro: '',
    tiles: [
      { name: 'documented replies', ...totals.documented },
      { name: 'cases within them', ...totals.cases },
      { name: 'assumed replies', ...totals.assumed },
    ],
    content: [
      matrix(coverage),
      section(
        'Never shown',
        missing.length === 0 ? [] : [HOW_TO, ...missing.map(missingCard)],
        'Every documented reply was shown.',
      ),
      section('Findings', findingKinds(findings).map(findingCard), 'No findings.'),
      section('Cases', [
        markup`<p>What the document distinguishes within one reply: ${markOf(1)} was shown, ${markOf(0)} was not.</p>
<div class="columns">
${OPERATION_IDS.map((id) => casesOf(id, cases))}
</div>`,
      ]),
      section('Assumed replies', [
        table(
          'list',
          'Replies that an assumption leads to, with the --assume options for each',
          ['Reply', 'Shown', 'Description', 'Options'],
          assumed.map((it) => [
            nameOf(it),
            markup`<span title="${firstOf(it)}">${markOf(it.count)}</span>`,
            it.description,
            it.grounds.map(code),
          ]),
        ),
      ]),
    ],
    footer: markup`petstore-mock ${packageVersion()}. ${code('default #3')} is exchange 3 in the journal of the sandbox ${code('default')}.`,
  });
}

/** Every operation with every status: the whole interface at a glance. */
function matrix({ documented, assumed }: CoverageReport): Markup {
  const all = [...documented, ...assumed];
  const statuses = [...new Set(all.map(({ status }) => status))].sort((a, b) => a - b);
  const rows = OPERATION_IDS.map((id) => {
    const { method, path } = operationShape(id);
    const own = all.filter(({ operation }) => operation === id);
    const cells = statuses.map((status) => cellOf(own.find((it) => it.status === status)));
    return [markup`${id}<small>${method} ${path}</small>`, ...cells];
  });
  return markup`${table('matrix', 'Replies by operation and status', ['Operation', ...statuses], rows)}
<p class="legend"><span class="doc hit">3</span> documented, shown 3 times <span class="doc miss">0</span> documented, never shown <span class="hit">3</span> assumed, shown 3 times <span>·</span> assumed, not shown</p>`;
}

function cellOf(reply: ReplyCoverage | undefined): Markup {
  if (reply === undefined) return markup``;
  const { count, description } = reply;
  const isDocumented = DOCUMENTED.has(idOf(reply));
  const kind = `${isDocumented ? 'doc ' : ''}${count > 0 ? 'hit' : 'miss'}`;
  const title = `${nameOf(reply)}: ${description}. ${firstOf(reply)}`;
  const content =
    isDocumented && count === 0
      ? markup`<a href="#${idOf(reply)}" aria-label="0: how to get ${nameOf(reply)}">0</a>`
      : count || '·';
  return markup`<span class="${kind}" title="${title}">${content}</span>`;
}

function nameOf({ operation, status }: Pick<KnownReply, 'operation' | 'status'>): string {
  return `${operation} ${status}`;
}

function idOf(reply: Pick<KnownReply, 'operation' | 'status'>): string {
  return nameOf(reply).replace(' ', '-');
}

const DOCUMENTED: ReadonlySet<string> = new Set(DOCUMENTED_REPLIES.map(idOf));

function firstOf({ first }: Shown): string {
  return first === undefined ? 'Never shown.' : `First by ${first.sandbox} #${first.exchange}.`;
}

function markOf(count: number): Markup {
  return count > 0
    ? markup`<span class="yes" role="img" aria-label="shown">✓</span>`
    : markup`<span class="no" role="img" aria-label="not shown">○</span>`;
}

const HOW_TO = markup`<p>Run these against a mock on its default port. ${code('petstore-mock responses')} lists other ways: by the state of the store, or by a scenario.</p>`;

function missingCard(reply: ReplyCoverage): Markup {
  return markup`<article class="missing" id="${idOf(reply)}"><div><h3>${nameOf(reply)}</h3>${reply.description}</div><pre>${code(howToGet(reply))}</pre></article>`;
}

/** Findings listed of each kind. */
const LISTED = 5;

function findingCard({ code: kind, count, kept }: FindingKind): Markup {
  const listed = kept.slice(0, LISTED);
  const items = listed.map((it) => markup`<li>${it.message}${code(placeOf(it))}</li>`);
  const more = count - listed.length;
  const rest = more > 0 ? markup`<p class="quiet">and ${more} more</p>` : '';
  return markup`<article class="finding"><h3>${kind} <b>${count}</b></h3> ${kept[0]?.advice ?? ''}<ul>${items}</ul>${rest}</article>`;
}

function casesOf(id: OperationId, cases: readonly (DocumentedCase & Shown)[]): Markup {
  const own = cases.filter(({ operation }) => operation === id);
  const shown = own.filter(({ count }) => count > 0).length;
  const items = own.map(
    (it) =>
      markup`<li title="${`${it.id}. ${firstOf(it)}`}">${markOf(it.count)}<small>${it.status}</small><span>${it.sentence}</span></li>`,
  );
  return markup`<article><h3>${id} <small>${shown} of ${own.length}</small></h3><ul class="marks">${items}</ul></article>`;
}
