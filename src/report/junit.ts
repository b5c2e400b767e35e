import { escapeMarkup, findingKinds, howToGet, placeOf, type ReportData } from './data.ts';

/**
 * JUnit XML: a documented reply that was not shown fails, a case that was not is skipped. Findings
 * are told and fail nothing: to be shown every reply, a client has to use what is deprecated.
 */
export function renderJunit({ coverage: { documented, cases, totals }, findings }: ReportData) {
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
  const found = findingKinds(findings).map(({ code, count, kept }) => {
    const lines = kept.map((it) => `${it.message} ${it.advice}\n${placeOf(it)}\n`);
    const output = `<system-out>${escapeMarkup(lines.join(''))}</system-out>`;
    return testCase('findings', `${code}: ${count}`, output);
  });
  const missing = totals.documented.total - totals.documented.shown;
  const skipped = totals.cases.total - totals.cases.shown;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="petstore-mock">
${suite('documented replies', replies, missing, 0)}
${suite('documented cases', within, 0, skipped)}
${suite('findings', found, 0, 0)}
</testsuites>
`;
}

function suite(name: string, all: readonly string[], failures: number, skipped: number): string {
  const counts = `tests="${all.length}" failures="${failures}" errors="0" skipped="${skipped}"`;
  return [`<testsuite name="${name}" ${counts}>`, ...all, '</testsuite>'].join('\n');
}

function testCase(group: string, name: string, content: string): string {
  return `<testcase classname="${escapeMarkup(group)}" name="${escapeMarkup(name)}">${content}</testcase>`;
}
