// The import direction of src/, and the linter's rules made from it:
//
//   node scripts/import-direction.mjs    writes biome.imports.json, which biome.json extends

import { writeFileSync } from 'node:fs';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

/** The parts of src/; each may import those before it. */
export const parts = [
  'package.ts',
  'defaults.ts',
  'words.ts',
  'curl.ts',
  'event-stream.ts',
  'error-code.ts',
  'read-text.ts',
  'contract',
  'shape',
  'store',
  'service',
  'scenario',
  'evidence',
  'sandbox',
  'log',
  'http',
  'control',
  'deployment',
  'report',
  'dashboard',
  'watch.ts',
  'mock.ts',
  'server.ts',
  'library',
  'responses',
  'cli',
  'index.ts',
];

/** Modules that run in a browser too. */
export const pure = ['curl.ts', 'event-stream.ts'];

/**
 * The dashboard is a client of the control API: it imports the types of records and replies, and pure
 * modules. scripts/build-dashboard.mjs refuses any other code of the server.
 */
const forDashboard = [...pure, 'contract/records.ts', 'control/control-shapes.ts'];

/** @param {string} part */
export function mayImport(part) {
  return part === 'dashboard' ? forDashboard : parts.slice(0, parts.indexOf(part));
}

/** @param {string} name */
export const isFolder = (name) => !name.endsWith('.ts');

/** The text of biome.imports.json. */
export function importRules() {
  const overrides = parts.flatMap((part) =>
    isFolder(part)
      ? [rule(part, `src/${part}/*`, '../'), rule(part, `src/${part}/*/**`, '../../')]
      : [rule(part, `src/${part}`, './')],
  );
  return `{ "overrides": [\n${overrides.map((entry) => JSON.stringify(entry)).join(',\n')}\n] }\n`;
}

/**
 * Forbids these files to import anything in src/ (`up` leads there) that the list does not allow. The
 * last matching pattern of a group decides.
 * @param {string} part
 * @param {string} files
 * @param {string} up
 */
function rule(part, files, up) {
  const allowed = mayImport(part);
  const escapes = [...(up === './' ? ['../**'] : ['./../**']), `${up}*/../**`];
  const except = allowed.map((name) => `!${up}${name}${isFolder(name) ? '/**' : ''}`);
  const message = `src/${part} may import only: ${allowed.join(', ') || 'nothing of ours'}.`;
  const options = { patterns: [{ group: [`${up}**`, ...except, ...escapes], message }] };
  const rules = { style: { noRestrictedImports: { level: 'error', options } } };
  return { includes: [files], linter: { rules } };
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL('../biome.imports.json', import.meta.url), importRules());
}
