import { type Markup, markup } from './markup.ts';

export interface TestSuite {
  readonly name: string;
  readonly cases: readonly TestCase[];
}

/** A test; it passed unless it has a verdict. */
export interface TestCase {
  readonly group: string;
  readonly name: string;
  readonly verdict?: 'failure' | 'skipped';
  /** Why it has the verdict. */
  readonly message?: string;
  readonly output?: string;
  readonly seconds?: number;
}

/** JUnit XML. */
export function renderJunit(suites: readonly TestSuite[]): string {
  return markup`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="petstore-mock"${countsOf(suites.flatMap(({ cases }) => cases))}>
${suites.map(suiteOf)}
</testsuites>
`.text;
}

function suiteOf({ name, cases }: TestSuite): Markup {
  return markup`<testsuite name="${name}"${countsOf(cases)}>
${cases.map(caseOf)}
</testsuite>`;
}

function countsOf(cases: readonly TestCase[]): Markup {
  const [failures, skipped] = ['failure', 'skipped'].map(
    (wanted) => cases.filter(({ verdict }) => verdict === wanted).length,
  );
  const seconds = cases.reduce((sum, it) => sum + (it.seconds ?? 0), 0);
  return markup` tests="${cases.length}" failures="${failures ?? 0}" errors="0" skipped="${skipped ?? 0}"${timeOf(seconds)}`;
}

function caseOf({ group, name, verdict, message = '', output, seconds = 0 }: TestCase): Markup {
  const tag = verdict ?? 'system-out';
  const reason = verdict === undefined ? '' : markup` message="${message}"`;
  const isEmpty = verdict === undefined && output === undefined;
  const content = isEmpty ? '' : markup`<${tag}${reason}>${output ?? ''}</${tag}>`;
  return markup`<testcase classname="${group}" name="${name}"${timeOf(seconds)}>${content}</testcase>`;
}

function timeOf(seconds: number): Markup {
  return seconds === 0 ? markup`` : markup` time="${seconds.toFixed(3)}"`;
}
