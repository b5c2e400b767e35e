import { type FindingsReport, howToGet } from '../core/sandbox/coverage.ts';
import type { Finding } from '../core/sandbox/report-shapes.ts';
import { FEATURES } from '../features.ts';
import type { RunEvidence } from '../terminal/command.ts';

/** The gates that a run has missed, such as `--fail-on assumed`, and why. */
export type MissedGates = ReadonlyMap<string, string>;

export const REPORT_FORMATS: Readonly<
  Record<string, (evidence: RunEvidence, missed: MissedGates) => string>
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
  readonly message?: string;
  readonly output?: string;
}

/** A finding fails only by `--fail-on`: a client has to use deprecated operations to be shown every reply. */
function renderJunit({ coverage, findings }: RunEvidence, missed: MissedGates): string {
  const suites: Readonly<Record<string, readonly TestCase[]>> = {
    'documented replies': coverage.documented.map((reply) => ({
      group: reply.operation,
      name: `${reply.status} ${reply.description}`,
      verdict:
        reply.count > 0 ? 'passed' : missed.has('--require-coverage') ? 'failure' : 'skipped',
      message: 'never shown',
      output: reply.count > 0 ? '' : howToGet(reply),
    })),
    findings: groupFindings(findings).map((group) => {
      const { code, count, examples } = group;
      const [texts, rest] = describeExamples(group, count, (finding, times) => {
        const { message, sandbox, exchange, method, target } = finding;
        return `${message}\n  ${sandbox} #${exchange}: ${method} ${target}${times}`;
      });
      const more = rest > 0 ? [`and ${rest} more`] : [];
      const output = [examples[0]?.first.advice ?? '', ...texts, ...more].join('\n');
      return { group: 'findings', name: `${code}: ${count}`, verdict: 'passed', output };
    }),
    gates: Array.from(missed, ([name, message]) => {
      return { group: 'gates', name, verdict: 'failure', message };
    }),
  };
  const shown = Object.entries(suites).filter(
    ([name, { length }]) => name !== 'gates' || length > 0,
  );
  const texts = shown.map(([name, tests]) => {
    return renderElement('testsuite', { name, ...countTests(tests) }, tests.map(renderCase));
  });
  const counts = countTests(Object.values(suites).flat());
  const root = renderElement('testsuites', { name: 'petstore-mock', ...counts }, texts);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root}\n`;
}

function countTests(tests: readonly TestCase[]) {
  const count = (wanted: TestCase['verdict']) =>
    tests.filter(({ verdict }) => verdict === wanted).length;
  const [failures, skipped] = [count('failure'), count('skipped')];
  return { tests: tests.length, failures, errors: 0, skipped };
}

function renderCase({ group, name, verdict, message = '', output = '' }: TestCase): string {
  const text = escapeMarkup(output);
  const told =
    verdict === 'passed'
      ? text && renderElement('system-out', {}, text)
      : renderElement(verdict, { message }, text);
  return renderElement('testcase', { classname: group, name }, told);
}

/** @param content markup; a list of elements gets a line for each */
function renderElement(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  content: string | readonly string[],
): string {
  const written = Object.entries(attributes).map(([attribute, value]) => {
    return ` ${attribute}="${escapeMarkup(String(value))}"`;
  });
  const inner = typeof content === 'string' ? content : ['', ...content, ''].join('\n');
  return `<${name}${written.join('')}>${inner}</${name}>`;
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
