// Builds the command with modules of the simulation left out, for the benchmark to compare with.

import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/**
 * @param {object} options
 * @param {string} options.outfile within the package, whose fixtures it is to find
 * @param {string[]} options.leftOut names of modules that a sandbox is made of, such as `coverage`
 * @param {string} options.stub the file of what stands in their place
 */
export async function buildWithout({ outfile, leftOut, stub }) {
  await build({
    absWorkingDir: fileURLToPath(new URL('..', import.meta.url)),
    entryPoints: ['src/cli/main.ts'],
    outfile,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: ['express', '@faker-js/faker', 'yaml', 'yargs'],
    alias: { 'string-width': './scripts/string-width.mjs' },
    plugins: [
      {
        name: 'leave-out',
        setup({ onResolve }) {
          onResolve({ filter: /^\.\/\w+\.ts$/ }, ({ path, importer }) =>
            importer.endsWith('/sandbox/sandbox.ts') &&
            leftOut.some((name) => path === `./${name}.ts`)
              ? { path: stub }
              : undefined,
          );
        },
      },
    ],
  });
}
