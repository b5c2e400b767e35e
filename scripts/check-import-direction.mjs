// Checks that the linter enforces the import direction: plants an import of every part of src/ into
// every other part, in a copy, and compares the linter's report with the expected violations. Plants
// an import cycle and an `any` too.

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { importRules, isFolder, mayImport, parts } from './import-direction.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const copy = mkdtempSync(join(tmpdir(), 'import-direction-'));
try {
  const expected = [...plantImports(), ...plantCycle(), ...plantAny()];
  const problems = [...tableProblems(), ...differences(expected, lint())];
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(`The linter reports the ${expected.length} planted violations and no other.`);
} finally {
  rmSync(copy, { recursive: true });
}

function tableProblems() {
  const problems = readdirSync(join(root, 'src'))
    .filter((name) => !parts.includes(name))
    .map((name) => `src/${name} is missing from scripts/import-direction.mjs`);
  if (readFileSync(join(root, 'biome.imports.json'), 'utf8') !== importRules()) {
    problems.push('biome.imports.json is out of date: run node scripts/import-direction.mjs');
  }
  return problems;
}

function plantImports() {
  return parts.flatMap((part) =>
    isFolder(part)
      ? [
          ...plantIn(part, `src/${part}/a.ts`, '../'),
          ...plantIn(part, `src/${part}/b/c.ts`, '../../'),
        ]
      : plantIn(part, `src/${part}`, './'),
  );
}

/**
 * Writes a file that imports every other part in every form. Returns the expected violations.
 * @param {string} part
 * @param {string} file
 * @param {string} up
 */
function plantIn(part, file, up) {
  const allowed = mayImport(part);
  const lines = parts
    .filter((other) => other !== part)
    .flatMap((other) => {
      const from = `${up}${other}${isFolder(other) ? '/x.ts' : ''}`;
      const forbidden = !allowed.includes(other);
      return [
        { forbidden, code: `import { x } from '${from}'` },
        { forbidden, code: `import type { X } from '${from}'` },
        { forbidden, code: `export { x } from '${from}'` },
        { forbidden, code: `export const load = () => import('${from}')` },
        { forbidden: true, code: `import { x } from '${up}contract/../${other}'` },
      ];
    });
  plant(
    file,
    lines.map(({ code }) => code),
  );
  return lines.flatMap(({ forbidden }, i) =>
    forbidden ? [`style/noRestrictedImports ${file}:${i + 1}`] : [],
  );
}

function plantCycle() {
  plant('src/contract/ring.ts', ["import { b } from './ring-b.ts'", 'export const a = () => b']);
  plant('src/contract/ring-b.ts', ["import { a } from './ring.ts'", 'export const b = () => a']);
  return ['src/contract/ring.ts:1', 'src/contract/ring-b.ts:1'].map(
    (place) => `suspicious/noImportCycles ${place}`,
  );
}

function plantAny() {
  plant('src/contract/any.ts', ['export const loose = (x: any) => x']);
  return ['suspicious/noExplicitAny src/contract/any.ts:1'];
}

/**
 * @param {string} file
 * @param {string[]} lines
 */
function plant(file, lines) {
  mkdirSync(dirname(join(copy, file)), { recursive: true });
  writeFileSync(join(copy, file), `${lines.join('\n')}\n`);
}

/** The violations of the three rules that Biome reports, as `rule file:line`. */
function lint() {
  for (const file of ['biome.json', 'biome.imports.json', 'package.json']) {
    cpSync(join(root, file), join(copy, file));
  }
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
  const flags = ['lint', '--vcs-enabled=false', '--reporter=json', '--max-diagnostics=none'];
  const run = spawnSync(process.execPath, [biome, ...flags, 'src'], {
    cwd: copy,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 ** 2,
  });
  if (!run.stdout.startsWith('{')) throw new Error(`Biome did not report: ${run.stderr}`);
  /** @type {{ category: string, severity: string, location: { path: string, start: { line: number } } }[]} */
  const diagnostics = JSON.parse(run.stdout).diagnostics;
  return diagnostics
    .filter(({ severity }) => severity === 'error')
    .map(({ category, location }) => {
      return `${category.replace('lint/', '')} ${location.path}:${location.start.line}`;
    })
    .filter((found) => /noRestrictedImports|noImportCycles .*ring|noExplicitAny/.test(found));
}

/**
 * @param {string[]} expected
 * @param {string[]} found
 */
function differences(expected, found) {
  return [
    ...expected.filter((one) => !found.includes(one)).map((one) => `not reported: ${one}`),
    ...found.filter((one) => !expected.includes(one)).map((one) => `wrongly reported: ${one}`),
  ];
}
