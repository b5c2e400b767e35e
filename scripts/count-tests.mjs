// Prints the sum of the vitest JSON reports that the arguments name: the test functions in the files
// that ran with the cases they made, then `N passed, N failed`.

import { readFileSync } from 'node:fs';
import process from 'node:process';

const TEST_FUNCTION = /^ *test(?:\.\w+)*[(<]/gm;

const files = new Set();
let passed = 0;
let failed = 0;
for (const file of process.argv.slice(2)) {
  /** @type {{ numPassedTests: number, testResults: { name: string, status: string, assertionResults: { status: string }[] }[] }} */
  const report = JSON.parse(readFileSync(file, 'utf8'));
  passed += report.numPassedTests;
  for (const { name, status, assertionResults } of report.testResults) {
    files.add(name);
    const failures = assertionResults.filter((test) => test.status === 'failed').length;
    // A file that fails outside its tests, for example on an import, counts as one failure.
    failed += status === 'failed' ? Math.max(failures, 1) : 0;
  }
}
let functions = 0;
for (const file of files) {
  functions += readFileSync(file, 'utf8').match(TEST_FUNCTION)?.length ?? 0;
}
console.log(`${functions} test functions, ${passed} cases passed, ${failed} failed`);
console.log(`${passed} passed, ${failed} failed`);
