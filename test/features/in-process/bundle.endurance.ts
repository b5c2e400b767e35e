import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../../src/server/files.ts';
import { runProgram } from '../../helpers/program.ts';
import { examplesProject } from '../../helpers/projects.ts';

const UNUSED = `
import { createMock, ControlError } from 'petstore-mock/fetch';
console.log('nothing');
`;

const USED = `
import { createMock } from 'petstore-mock/fetch';
const mock = createMock({ scenarios: ['shipped-orders'] });
const headers = { Authorization: 'Bearer ' + mock.key };
const { status } = await mock.fetch(mock.url + '/store/orders/1', { method: 'DELETE', headers });
console.log(status);
`;

const modules = (path: string) => join(packageRoot, 'node_modules', path);

const BUNDLERS = {
  esbuild: {
    program: [modules('esbuild/bin/esbuild')],
    args: ['--bundle', '--minify', '--format=esm', '--splitting', '--outdir=out-esbuild'],
  },
  rolldown: {
    program: [process.execPath, modules('rolldown/bin/cli.mjs')],
    args: ['--minify', '--format=esm', '--platform=browser', '--dir=out-rolldown'],
  },
};

test.each(Object.entries(BUNDLERS))(
  '%s bundles it for browsers, and drops it where it is not used',
  async (name, { program, args }) => {
    const cwd = examplesProject();
    writeFileSync(join(cwd, 'package.json'), '{ "type": "module" }');
    for (const [file, code] of Object.entries({ used: USED, unused: UNUSED })) {
      writeFileSync(join(cwd, `${file}.js`), code);
      const [command = '', ...words] = [...program, `${file}.js`, ...args];
      const { code: exitCode, output } = await runProgram(command, words, { cwd });
      expect([exitCode, output]).toEqual([0, expect.any(String)]);
    }
    const out = join(cwd, `out-${name}`);
    expect(readFileSync(join(out, 'unused.js')).length).toBeLessThan(200);
    const run = await runProgram(process.execPath, [join(out, 'used.js')], { cwd });
    expect(run).toEqual({ code: 0, output: '409\n' });
  },
);

const CONSUMER = `
import { ControlError, createMock, type CreateMockOptions, type Mock } from 'petstore-mock/fetch';
const options: CreateMockOptions = {
  assume: { 'cancel-again': '404' },
  fixture: { animals: [{ id: 2n ** 60n, name: 'Rex', categoryId: 7, status: 'available' }] },
  scenarios: ['slow', { rules: [{ on: 'getPet', reply: { status: 404 } }] }],
};
export const mock: Mock = createMock(options);
export const standIn: typeof fetch = mock.fetch;
const { status } = await mock.orders.get(1);
export const word: 'pending' | 'shipped' | 'cancelled' | undefined = status;
await mock.scenario.use('outage');
await mock.control.call('PUT /clock', { body: { frozen: true } });
export const other: string = mock.sandbox('other').url;
export const isRefused = (error: unknown) => error instanceof ControlError && error.status === 400;
// @ts-expect-error
createMock({ db: 'store.json' });
// @ts-expect-error
createMock({ tls: true });
// @ts-expect-error
createMock({ upstream: 'https://api.example.com' });
// @ts-expect-error
createMock({ scenarios: ['slwo'] });
// @ts-expect-error
createMock({ fixture: 'fixture.json' });
`;

test('its types need the DOM and no types of Node', async () => {
  const cwd = examplesProject();
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: false },
    ...{ types: [], target: 'es2022', lib: ['es2022', 'dom', 'esnext.disposable'] },
    ...{ module: 'esnext', moduleResolution: 'bundler' },
  };
  writeFileSync(join(cwd, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(cwd, 'consumer.ts'), CONSUMER);
  writeFileSync(
    join(cwd, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['consumer.ts'] }),
  );
  const tsc = modules('typescript/bin/tsc');
  expect(await runProgram(process.execPath, [tsc], { cwd })).toEqual({ code: 0, output: '' });
});
