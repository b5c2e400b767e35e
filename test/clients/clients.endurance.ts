import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { stringify } from 'lossless-json';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PetstoreMock, startPetstoreMock } from '../../src/index.ts';
import { serviceOpenApi } from '../../src/openapi/service-openapi.ts';
import { packageRoot } from '../../src/package.ts';
import { answerOf, BIG_ID, drive, requestOf, type Step } from '../helpers/client-plan.ts';
import { findProgram, runProgram } from '../helpers/program.ts';
import { toolFile } from '../helpers/tools.ts';
import type { Answer, Caller } from './callers/call.ts';

const MODULES = join(packageRoot, 'node_modules');
const CALLERS = join(packageRoot, 'test/clients/callers');

const ORDINARY = 123_456;

let folder: string;
let mock: PetstoreMock;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'clients-'));
  mock = await startPetstoreMock();
});
afterAll(async () => {
  await mock.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('in JavaScript', () => {
  beforeAll(async () => {
    cpSync(CALLERS, folder, { recursive: true });
    symlinkSync(MODULES, join(folder, 'node_modules'), 'junction');
    await generate();
    const names = ['openapi-fetch', 'hey-api', 'axios'];
    await Promise.all([
      checkTypes(),
      build({
        absWorkingDir: folder,
        entryPoints: names.map((name) => `${name}.ts`),
        outdir: 'built',
        outExtension: { '.js': '.mjs' },
        bundle: true,
        format: 'esm',
        platform: 'node',
        packages: 'external',
      }),
    ]);
  });

  describe.each(['openapi-fetch', 'hey-api', 'axios'])('%s gets every documented reply', (name) => {
    async function run(id: number | bigint, exact: boolean): Promise<void> {
      const module = pathToFileURL(join(folder, 'built', `${name}.mjs`)).href;
      const { call }: { call: Caller } = await import(module);
      await drive(mock, id, async (url, steps) => {
        const answers: Answer[] = [];
        for (const step of steps) {
          const { status, body } = await call({ url, key: step.key, exact }, step.call);
          // The numbers of lossless-json are objects, which here become numbers and bigints.
          answers.push(exact ? answerOf(`${status}`, stringify(body) ?? '') : { status, body });
        }
        return answers;
      });
    }

    test('as it comes', () => run(ORDINARY, false));
    test('with ids above 2^53 and another JSON parser', () => run(BIG_ID, true));
  });
});

describe('elsewhere', () => {
  test("Python's http.client gets every documented reply", async ({ skip }) => {
    const python = findProgram('python3', 'python');
    if (python === undefined) return skip('This machine has no Python.');
    await drive(mock, BIG_ID, (url, steps) => fromLines(python, 'http_client.py', url, steps));
  });

  test("Java's HttpClient gets every documented reply", async ({ skip }) => {
    const java = findProgram('java');
    if (java === undefined || findProgram('javac') === undefined) {
      return skip('This machine has no Java compiler.');
    }
    await drive(mock, BIG_ID, (url, steps) => fromLines(java, 'HttpClientCaller.java', url, steps));
  });
});

/** Gives a program all steps in a file, and reads a line for each answer. */
async function fromLines(
  program: string,
  script: string,
  url: string,
  steps: readonly Step[],
): Promise<readonly Answer[]> {
  const lines = steps.map(({ call, key }) => {
    const { method, path, body } = requestOf(call);
    return [method, path, key, body].join('\t');
  });
  const file = join(folder, `${script}.calls`);
  writeFileSync(file, `${lines.join('\n')}\n`);
  const { code, output } = await runProgram(program, [join(CALLERS, script), url, file]);
  expect(code, output).toBe(0);
  return output
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [status = '', body = ''] = line.split('\t');
      return answerOf(status, body);
    });
}

/** Writes what the generators make of the OpenAPI document. */
async function generate(): Promise<void> {
  const document = join(folder, 'openapi.json');
  writeFileSync(
    document,
    JSON.stringify(serviceOpenApi({ serverUrl: mock.url, version: '1.0.0' })),
  );
  const runs = [
    ['openapi-typescript/bin/cli.js', document, '-o', join(folder, 'schema.ts')],
    [
      '@hey-api/openapi-ts/bin/run.js',
      ...['-i', document, '-o', join(folder, 'generated')],
      ...['-c', '@hey-api/client-fetch', '--no-log-file'],
    ],
  ].map(async ([script = '', ...args]) => {
    const run = [toolFile(script), ...args];
    const { code, output } = await runProgram(process.execPath, run, { cwd: folder });
    expect(code, output).toBe(0);
  });
  await Promise.all(runs);
}

/** The calls that the callers make have to fit the types that were generated. */
async function checkTypes(): Promise<void> {
  const config = {
    compilerOptions: {
      strict: true,
      noEmit: true,
      module: 'esnext',
      moduleResolution: 'bundler',
      target: 'es2023',
      lib: ['es2023', 'dom', 'dom.iterable'],
      types: [],
      allowImportingTsExtensions: true,
      skipLibCheck: true,
    },
    include: ['*.ts'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(MODULES, 'typescript/bin/tsc');
  const { code, output } = await runProgram(process.execPath, [tsc], { cwd: folder });
  expect(code, output).toBe(0);
}
