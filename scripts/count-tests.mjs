// Prints `N passed, N failed` from the report of vitest's JSON reporter that the argument names.

import { readFileSync } from 'node:fs';
import process from 'node:process';

/** @type {{ numPassedTests: number, testResults: { status: string, assertionResults: { status: string }[] }[] }} */
const report = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));

// A file that fails outside its tests, say on an import, counts as one failure.
let failed = 0;
for (const { status, assertionResults } of report.testResults) {
  const failures = assertionResults.filter((test) => test.status === 'failed').length;
  failed += status === 'failed' ? Math.max(failures, 1) : 0;
}
console.log(`${report.numPassedTests} passed, ${failed} failed`);
