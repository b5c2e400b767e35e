import { type Markup, markup } from './markup.ts';
import type { Report, TestResult } from './report.ts';

export function renderJunit({ sections }: Report): string {
  const suites = new Map<string, TestResult[]>();
  for (const { suite, rows } of sections) {
    if (suite === undefined) continue;
    const tests = rows.flatMap(({ test }) => test ?? []);
    suites.set(suite, [...(suites.get(suite) ?? []), ...tests]);
  }
  return markup`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="petstore-mock"${renderCounts([...suites.values()].flat())}>
${[...suites].map(renderSuite)}
</testsuites>
`.text;
}

function renderSuite([name, tests]: readonly [string, readonly TestResult[]]): Markup {
  return markup`<testsuite name="${name}"${renderCounts(tests)}>
${tests.map(renderCase)}
</testsuite>`;
}

function renderCounts(tests: readonly TestResult[]): Markup {
  const count = (wanted: TestResult['verdict']) =>
    tests.filter((it) => it.verdict === wanted).length;
  const seconds = tests.reduce((sum, it) => sum + (it.seconds ?? 0), 0);
  return markup` tests="${tests.length}" failures="${count('failure')}" errors="0" skipped="${count('skipped')}"${renderTime(seconds)}`;
}

function renderCase({
  group,
  name,
  verdict,
  message = '',
  output = [],
  seconds,
}: TestResult): Markup {
  const passed = verdict === 'passed';
  const tag = passed ? 'system-out' : verdict;
  const reason = passed ? '' : markup` message="${message}"`;
  const isEmpty = passed && output.length === 0;
  const content = isEmpty ? '' : markup`<${tag}${reason}>${output}</${tag}>`;
  return markup`<testcase classname="${group}" name="${name}"${renderTime(seconds)}>${content}</testcase>`;
}

function renderTime(seconds = 0): Markup {
  return seconds === 0 ? markup`` : markup` time="${seconds.toFixed(3)}"`;
}
