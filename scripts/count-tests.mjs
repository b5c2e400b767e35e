// Prints the sum of the vitest JSON reports that the arguments name: `N passed, N failed`.

import { readFileSync } from 'node:fs';
import process from 'node:process';

let passed = 0;
let failed = 0;
for (const file of process.argv.slice(2)) {
  /** @type {{ numPassedTests: number, testResults: { status: string, assertionResults: { status: string }[] }[] }} */
  const report = JSON.parse(readFileSync(file, 'utf8'));
  passed += report.numPassedTests;
  for (const { status, assertionResults } of report.testResults) {
    const failures = assertionResults.filter((test) => test.status === 'failed').length;
    // A file that fails outside its tests, for example on an import, counts as one failure.
    failed += status === 'failed' ? Math.max(failures, 1) : 0;
  }
}
console.log(`${passed} passed, ${failed} failed`);
