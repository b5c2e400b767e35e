// Builds dist/dashboard/: the page, and its style and scripts, compressed. Express serves the files
// as they are; browsers cache them by their hashed names.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = 'src/features/dashboard';
const folder = join(root, 'dist/dashboard');

/** Modules of src/ that run in a browser too. */
const pure = [
  'client/control-client.ts',
  'client/event-stream.ts',
  'core/contract/json.ts',
  'core/contract/operations.ts',
  'core/contract/records.ts',
  'core/raw-http.ts',
  'server/node-errors.ts',
  'core/contract/target.ts',
  'core/limits.ts',
  'core/scenario/fault-table.ts',
  'core/words.ts',
];

/** Builds the dashboard and returns what esbuild says about the outputs. */
export async function buildDashboard() {
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [`${sources}/dashboard.tsx`, `${sources}/dashboard.css`],
    outdir: 'dist/dashboard',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none', // dist/THIRD-PARTY-LICENSES.txt contains them
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'warning',
    write: false,
    metafile: true,
  });
  refuseServerCode(metafile);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { path, contents } of outputFiles) {
    const file = join(folder, `${basename(path)}.gz`);
    writeFileSync(file, gzipSync(contents, { level: 9 }));
  }
  writeFileSync(join(folder, 'dashboard.html'), linkedPage(Object.entries(metafile.outputs)));
  return metafile;
}

/**
 * The page may import types of the server, which leave nothing in the bundle, and pure modules.
 * @param {import('esbuild').Metafile} metafile
 */
function refuseServerCode({ inputs }) {
  const strangers = Object.keys(inputs).filter(
    (file) =>
      file.startsWith('src/') &&
      !file.startsWith(`${sources}/`) &&
      !pure.some((name) => file === `src/${name}`),
  );
  if (strangers.length > 0) {
    throw new Error(`The dashboard imports code of the server: ${strangers.join(', ')}`);
  }
}

/**
 * The page with the hashed names of what it loads.
 * @param {[string, { entryPoint?: string }][]} outputs
 */
function linkedPage(outputs) {
  const html = readFileSync(join(root, sources, 'page.html'), 'utf8');
  return html.replaceAll(/(?<=")dashboard\.(?:tsx|css)(?=")/g, (name) => {
    const [path] = outputs.find(([, it]) => it.entryPoint === `${sources}/${name}`) ?? [];
    if (path === undefined) throw new Error(`The page loads ${name}, which was not built.`);
    return `dashboard/${basename(path)}`;
  });
}

if (argv[1] === fileURLToPath(import.meta.url)) await buildDashboard();
