import { join } from 'node:path';
import { build, type Rolldown } from 'vite';
import { expect, test } from 'vitest';
import { WEB_PLATFORM } from '../../src/core/platform.ts';
import { createStart } from '../../src/core/sandbox/start.ts';
import { resolveScenarios, scenariosByName } from '../../src/core/scenario/resolve-scenarios.ts';
import { loadBases } from '../../src/core/scenario/scenario-records.ts';
import { EMPTY_STORE } from '../../src/core/store/store.ts';
import { packageRoot } from '../../src/server/files.ts';
import { NODE_PLATFORM } from '../../src/server/node-platform.ts';

/** What only scenarios in YAML and generated stores need. */
const APART = ['@faker-js/faker/locale/en', 'yaml'];

test('the core runs in a browser: it imports no module of Node, and loads at most 180 kB at once', async () => {
  const [entry, ...others] = (await bundle()).output.filter((file) => file.type === 'chunk');
  if (entry === undefined) expect.fail();
  const names = others.map(({ fileName }) => fileName);
  const imported = [entry, ...others].flatMap((it) => [...it.imports, ...it.dynamicImports]);
  const outside = imported.filter((name) => ![entry.fileName, ...names].includes(name));
  expect([...new Set(outside)].toSorted()).toEqual(APART);
  expect(entry.code).toContain('getPet');
  const atOnce = [entry, ...others.filter(({ fileName }) => entry.imports.includes(fileName))];
  const bytes = atOnce.reduce((sum, { code }) => sum + Buffer.byteLength(code), 0);
  expect(bytes).toBeLessThan(180_000);
});

test('web standards are all that the core needs from outside, beside the texts that ship', async () => {
  const platform = { ...WEB_PLATFORM, shippedText: NODE_PLATFORM.shippedText };
  const scenarios = resolveScenarios(['large-store', 'no-orders'], scenariosByName(platform));
  const { store } = createStart({}, EMPTY_STORE, await loadBases(scenarios, platform));
  expect([store.animals.size > 1000, store.orders.size]).toEqual([true, 0]);
  await new Promise<void>((resolve) => void platform.after(1, resolve));
});

/** Minified; what few need is in chunks of its own. */
async function bundle(): Promise<Rolldown.RolldownOutput> {
  const result = await build({
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    root: packageRoot,
    build: {
      write: false,
      target: 'es2022',
      modulePreload: false,
      rolldownOptions: {
        input: join(packageRoot, 'src/core/control/control-api.ts'),
        external: [...APART, /^node:/],
        preserveEntrySignatures: 'strict',
      },
    },
  });
  if (!('output' in result)) throw new Error('Expected one bundle.');
  return result;
}
