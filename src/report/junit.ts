import { escapeMarkup, howToGet, type ReportData } from './data.ts';

/** JUnit XML: a documented reply that was not shown fails, a case that was not is skipped. */
export function renderJunit({ coverage: { documented, cases, totals } }: ReportData): string {
  const replies = documented.map((it) =>
    testCase(
      it.operation,
      `${it.status} ${it.description}`,
      it.count > 0 ? '' : `<failure message="never shown">${escapeMarkup(howToGet(it))}</failure>`,
    ),
  );
  const within = cases.map((it) =>
    testCase(
      it.operation,
      `${it.status} ${it.id}: ${it.sentence}`,
      it.count > 0 ? '' : '<skipped message="never shown"/>',
    ),
  );
  const missing = totals.documented.total - totals.documented.shown;
  const skipped = totals.cases.total - totals.cases.shown;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="petstore-mock">
<testsuite name="documented replies" tests="${replies.length}" failures="${missing}" errors="0" skipped="0">
${replies.join('\n')}
</testsuite>
<testsuite name="documented cases" tests="${within.length}" failures="0" errors="0" skipped="${skipped}">
${within.join('\n')}
</testsuite>
</testsuites>
`;
}

function testCase(group: string, name: string, content: string): string {
  return `<testcase classname="${escapeMarkup(group)}" name="${escapeMarkup(name)}">${content}</testcase>`;
}
