import { type FindingsReport, howToGet } from '../core/sandbox/coverage.ts';
import type { Finding, ShownCount } from '../core/sandbox/report-shapes.ts';
import { FEATURES } from '../features.ts';
import type { RunEvidence } from '../server/feature.ts';

/** `missed`: the run missed `--require-coverage`, so missing documented replies fail in JUnit. */
export const REPORT_FORMATS: Readonly<
  Record<string, (evidence: RunEvidence, missed: boolean) => string>
> = {
  '.json': ({ exchanges: _, ...evidence }) => `${JSON.stringify(evidence, undefined, 2)}\n`,
  ...Object.assign({}, ...FEATURES.map(({ reports }) => reports)),
  '.xml': renderJunit,
};

/** The findings by kind, the most frequent first. Counts include findings that were not kept. */
export function groupFindings({ counts, findings }: FindingsReport) {
  return Object.entries(counts)
    .map(([code, count]) => {
      const examples = countEqual(findings.filter((finding) => finding.code === code));
      return { code, count, examples };
    })
    .sort((a, b) => b.count - a.count);
}

export type FindingGroup = ReturnType<typeof groupFindings>[number];

/** The first of equal findings on equal calls, with how many there are. */
function countEqual(findings: readonly Finding[]) {
  const examples = new Map<string, { readonly first: Finding; times: number }>();
  for (const first of findings) {
    const key = `${first.method} ${first.target} ${first.message}`;
    const known = examples.get(key);
    if (known === undefined) examples.set(key, { first, times: 1 });
    else known.times += 1;
  }
  return [...examples.values()];
}

export function describeExamples(
  { count, examples }: FindingGroup,
  max: number,
  describe: (first: Finding, times: string) => string,
): [texts: string[], rest: number] {
  const shown = examples.slice(0, max);
  const texts = shown.map(({ first, times }) =>
    describe(first, times === 1 ? '' : ` (${times} times)`),
  );
  return [texts, count - shown.reduce((sum, { times }) => sum + times, 0)];
}

interface TestCase {
  readonly group: string;
  readonly name: string;
  readonly verdict: 'passed' | 'failure' | 'skipped';
  readonly output?: readonly string[];
}

/** Findings never fail, since a client has to use deprecated operations to be shown every reply. */
function renderJunit({ coverage, findings }: RunEvidence, missed: boolean): string {
  const suites: Readonly<Record<string, readonly TestCase[]>> = {
    'documented replies': coverage.documented.map((reply) => ({
      group: reply.operation,
      name: `${reply.status} ${reply.description}`,
      verdict: judge(reply, missed),
      output: reply.count > 0 ? [] : [howToGet(reply)],
    })),
    findings: groupFindings(findings).map((group) => {
      const { code, count, examples } = group;
      const [texts, rest] = describeExamples(group, count, (finding, times) => {
        const { message, sandbox, exchange, method, target } = finding;
        return `${message}\n  ${sandbox} #${exchange}: ${method} ${target}${times}`;
      });
      const output = [
        examples[0]?.first.advice ?? '',
        ...texts,
        ...(rest > 0 ? [`and ${rest} more`] : []),
      ];
      return { group: 'findings', name: `${code}: ${count}`, verdict: 'passed', output };
    }),
  };
  return markup`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="petstore-mock"${renderCounts(Object.values(suites).flat())}>
${Object.entries(suites).map(
  ([name, tests]) => markup`<testsuite name="${name}"${renderCounts(tests)}>
${tests.map(renderCase)}
</testsuite>`,
)}
</testsuites>
`.text;
}

function judge({ count }: ShownCount, missed: boolean): TestCase['verdict'] {
  if (count > 0) return 'passed';
  return missed ? 'failure' : 'skipped';
}

function renderCounts(tests: readonly TestCase[]): Markup {
  const count = (wanted: TestCase['verdict']) =>
    tests.filter(({ verdict }) => verdict === wanted).length;
  return markup` tests="${tests.length}" failures="${count('failure')}" errors="0" skipped="${count('skipped')}"`;
}

function renderCase({ group, name, verdict, output = [] }: TestCase): Markup {
  const printed = output.length === 0 ? '' : markup`<system-out>${output}</system-out>`;
  const content =
    verdict === 'passed'
      ? printed
      : markup`<${verdict} message="never shown">${output}</${verdict}>`;
  return markup`<testcase classname="${group}" name="${name}">${content}</testcase>`;
}

class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What a template accepts. Strings are escaped, and lists are written line by line. */
type Part = string | number | Markup | readonly Part[];

function markup(template: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(String.raw({ raw: template }, ...parts.map(escapePart)));
}

function escapePart(part: Part): string {
  if (part instanceof Markup) return part.text;
  return typeof part === 'object' ? part.map(escapePart).join('\n') : escapeMarkup(String(part));
}

const NOT_IN_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** Text for XML, attributes included. Characters that XML cannot hold become U+FFFD. */
export function escapeMarkup(text: string): string {
  return text
    .replaceAll(NOT_IN_XML, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
