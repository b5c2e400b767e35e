import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../src/server/files.ts';
import { readyUrl } from './helpers/command.ts';
import { temporaryFolder } from './helpers/folder.ts';
import { runProgram, spawnProgram } from './helpers/program.ts';

const FEATURES = readdirSync(join(packageRoot, 'src/features'));

/** What a build reads, besides the packages. */
const PARTS = [
  ...['src', 'scripts', 'fixtures', 'scenarios'],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'],
];

/** A copy of the project. */
const folder = temporaryFolder();
symlinkSync(join(packageRoot, 'node_modules'), join(folder, 'node_modules'));

/** Takes a feature out of the copy: its folder, and what names it elsewhere. */
function remove(feature: string): void {
  rmSync(join(folder, 'src/features', feature), { recursive: true });
  const edit = (file: string, change: (text: string) => string): void => {
    const path = join(folder, file);
    writeFileSync(path, change(readFileSync(path, 'utf8')));
  };
  const name = feature.toUpperCase().replace('-', '_');
  const lines = new RegExp(
    `^import .*/${feature}/(?:feature|added-handlers).ts';\n|^ *${name},.*\n`,
    'gm',
  );
  edit('src/features.ts', (text) => text.replaceAll(lines, ''));
  const named = new RegExp(`^export [^;]*'./features/${feature}/[^;]*;\n`, 'gm');
  for (const entry of ['src/index.ts', 'src/fetch.ts'])
    edit(entry, (text) => text.replaceAll(named, ''));
  // The package hands out the library for tests.
  edit('package.json', (text) => {
    const { exports, ...rest } = JSON.parse(text);
    const kept = Object.entries(exports).filter(
      ([, paths]) => !JSON.stringify(paths).includes(`features/${feature}/`),
    );
    const own = { '.': './dist/index.js', ...Object.fromEntries(kept) };
    const { main: _, typesVersions: __, ...manifest } = rest;
    return JSON.stringify({ ...manifest, exports: own });
  });
  // So the build compiles all that is left, and not only what the package hands out. It need not
  // check again what the test before has checked.
  edit('tsconfig.build.json', (text) => {
    const { compilerOptions, ...rest } = JSON.parse(text);
    Object.assign(compilerOptions, { incremental: true, tsBuildInfoFile: 'checked.tsbuildinfo' });
    const exclude = ['src/features/dashboard'];
    return JSON.stringify({ ...rest, compilerOptions, include: ['src'], exclude });
  });
}

test.each([
  ...FEATURES.map((feature) => [feature, [feature]] as const),
  ['any feature', FEATURES] as const,
])('without %s, the rest compiles, is built and answers', async (_name, removed) => {
  for (const part of PARTS)
    cpSync(join(packageRoot, part), join(folder, part), { recursive: true });
  for (const feature of removed) remove(feature);
  const inCopy = { cwd: folder };
  const built = await runProgram(process.execPath, ['scripts/build.mjs'], inCopy);
  expect(built.code, built.output).toBe(0);
  const server = spawnProgram(process.execPath, ['dist/cli/main.js', '--port', '0'], inCopy);
  const response = await fetch(`${await readyUrl(server)}/pets/3`, {
    headers: { Authorization: 'Bearer demo-key' },
  });
  expect([response.status, await response.json()]).toMatchObject([200, { id: 3 }]);
  server.child.kill('SIGTERM');
  expect(await server.exited).toMatchObject({ code: 0 });
});
