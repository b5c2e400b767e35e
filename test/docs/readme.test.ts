import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodeOf, signalExitCode } from '../../src/cli/child/ending.ts';
import { COMMAND_NAMES, COMPLETION, usageOf } from '../../src/cli/command-table.ts';
import { FLAG_NAMES, type FlagName, flagShape, flagsFrom, flagsOf } from '../../src/cli/flags.ts';
import { fromConfigFile } from '../../src/cli/input/config-file.ts';
import { variableOf } from '../../src/cli/input/environment.ts';
import { renderJson } from '../../src/cli/output/log.ts';
import { ASSUMPTION_IDS, ASSUMPTIONS } from '../../src/contract/assumption-table.ts';
import { ERROR_CODES } from '../../src/contract/error-codes.ts';
import {
  BASE_PATH,
  OPERATION_IDS,
  type OperationId,
  operationShape,
} from '../../src/contract/operations.ts';
import { Exchange } from '../../src/evidence/journal.ts';
import { type RunningServer, startServer } from '../../src/index.ts';
import { packageRoot } from '../../src/package.ts';
import { loadFixture } from '../../src/store/fixture/load-fixture.ts';
import { fixtureFile } from '../helpers/wire.ts';
import { blocks, code, onlyBlock, readPage, section, tableRows } from './page.ts';
import { printedBy, promisedBy, usesOf } from './program.ts';

const run = promisify(execFile);
const README = readPage('README.md');

describe('the first lines', () => {
  test('say what it is and for whom', () => {
    expect(README.split('\n', 1)[0]).toMatch(/stand-in for the pet store service, for people who/);
  });

  test('give one command to start it and one to test it, of scripts that exist', () => {
    const [start, check] = blocks(README, 'sh');
    expect([start, check]).toEqual([
      'npm ci && npm run build && npm start\n',
      'npm ci && npm test\n',
    ]);
    const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['build', 'start', 'test']));
  });
});

describe('the walk', () => {
  const WALK = section(README, 'Every documented reply');
  const STEP = /^curl .*'http:\/\/127\.0\.0\.1:4010[^' ]*' {2}# \d{3}$/;
  const steps = blocks(WALK, 'sh').flatMap((block) => block.trimEnd().split('\n'));
  let server: RunningServer;

  beforeAll(async () => {
    server = await startServer({ port: 0 });
  });
  afterAll(() => server.close());

  /** The operation that a line calls. */
  function operationOf(line: string): OperationId | undefined {
    const method = /-X ([A-Z]+)/.exec(line)?.[1] ?? 'GET';
    const path = new URL(/http:[^']+/.exec(line)?.[0] ?? '').pathname;
    return OPERATION_IDS.find((id) => {
      const shape = operationShape(id);
      const pattern = `^${BASE_PATH}${shape.path.replace(/\{\w+\}/, '\\d+')}$`;
      return shape.method === method && new RegExp(pattern).test(path);
    });
  }

  test.each(steps)('gives the status it states: %s', async (line) => {
    expect(line).toMatch(STEP);
    const command = line.replace('127.0.0.1:4010', `127.0.0.1:${server.port}`);
    const { stdout } = await run('bash', ['-c', command], { env: { ...env, no_proxy: '*' } });
    const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(stdout) ?? [];
    expect(status).toBe(line.slice(-3));
    expect(stdout).toMatch(/^Mock-Basis: documented\r$/m);
  });

  test('shows every documented reply once, each under the heading of its operation', () => {
    const documented = OPERATION_IDS.flatMap((id) =>
      Object.keys(operationShape(id).replies).map((status) => `${id} ${status}`),
    );
    expect(documented).toHaveLength(16);
    const headed = WALK.split(/^### /m).flatMap((part) => {
      const [, id = ''] = /^`(\w+)`/.exec(part) ?? [];
      return blocks(part, 'sh').flatMap((block) =>
        block
          .trimEnd()
          .split('\n')
          .map((line) => ({ id, line })),
      );
    });
    expect(headed.map(({ line }) => `${operationOf(line)} ${line.slice(-3)}`)).toEqual(documented);
    expect(headed.map(({ id }) => id)).toEqual(headed.map(({ line }) => operationOf(line)));
  });
});

describe('the tables', () => {
  test('list every assumption with its options and its question, and no other', () => {
    const listed = tableRows(section(README, 'Assumptions'), 'id');
    expect(listed).toEqual(
      ASSUMPTION_IDS.map((id) => {
        const { options, question } = ASSUMPTIONS[id];
        return [code(id), options.map(({ name }) => code(name)).join(', '), question];
      }),
    );
  });

  test('list every error code with its statuses, and no other', () => {
    expect(tableRows(section(README, 'Error codes'), 'code')).toEqual(
      Object.entries(ERROR_CODES).map(([name, { statuses }]) => [code(name), statuses.join(', ')]),
    );
  });

  test('list every command, and no other', () => {
    const usages = COMMAND_NAMES.map((name) => (name === 'serve' ? '[serve]' : usageOf(name)));
    expect(
      tableRows(section(README, 'Commands and flags'), 'command').map(([usage]) => usage),
    ).toEqual([...usages, COMPLETION.name].map((usage) => code(`petstore-mock ${usage}`)));
  });

  const flagTable = tableRows(section(README, 'Commands and flags'), 'flag');

  function flagCell(name: FlagName): string {
    const { value, alias } = flagShape(name);
    const flag = code(value === undefined ? `--${name}` : `--${name} ${value}`);
    return alias === undefined ? flag : `${flag}, ${code(`-${alias}`)}`;
  }

  function defaultCell(name: FlagName): string {
    const { type, default: fallback } = flagShape(name);
    if (fallback !== undefined) return code(fallback);
    return type === 'switch' ? 'off' : 'none';
  }

  function variableCell(name: FlagName): string {
    return flagsFrom('environment').includes(name) ? code(variableOf(name)) : 'none';
  }

  test('list every flag of the server with its variable and its default, and no other', () => {
    const ofServer = flagTable.slice(0, flagsOf('serve').length).map((row) => row.slice(0, 3));
    expect(ofServer).toEqual(
      flagsOf('serve').map((name) => [flagCell(name), variableCell(name), defaultCell(name)]),
    );
  });

  test('list every flag that only other commands have, and no other', () => {
    const others = FLAG_NAMES.filter((name) => !flagShape(name).commands.includes('serve'));
    const ofOthers = flagTable.slice(flagsOf('serve').length).map((row) => row.slice(0, 3));
    expect(ofOthers).toEqual(
      others.map((name) => [
        flagCell(name),
        flagShape(name).commands.map(code).join(', '),
        defaultCell(name),
      ]),
    );
    expect(others.filter((name) => flagShape(name).elsewhere.length > 0)).toEqual([]);
  });

  test('list the exit code of every way in which a command ends', () => {
    const codes = tableRows(section(README, 'Exit codes'), 'code').map(([cell = '']) => cell);
    const listed = codes.join(', ').split(', ');
    const own = [
      exitCodeOf({ kind: 'timed-out', seconds: 1 }),
      exitCodeOf({ kind: 'not-started', code: 'EACCES' }),
      exitCodeOf({ kind: 'not-started', code: 'ENOENT' }),
    ];
    expect(listed).toEqual(['0', '1', '2', '3', ...own.map(String), '128 + _n_', 'any other']);
    expect(exitCodeOf({ kind: 'signalled', signal: 'SIGKILL' })).toBe(128 + 9);
    expect([exitCodeOf({ kind: 'exited', code: 7 }), signalExitCode('SIGINT')]).toEqual([7, 130]);
  });

  test('give a reason for every dependency, and for no other package', () => {
    const { dependencies, devDependencies } = JSON.parse(
      readFileSync(join(packageRoot, 'package.json'), 'utf8'),
    );
    const [production = '', development = ''] = section(README, 'Dependencies').split(
      'In development:',
    );
    const named = (text: string) =>
      tableRows(text, 'package').flatMap(([cell = '']) => cell.replaceAll('`', '').split(', '));
    expect(named(production).sort()).toEqual(Object.keys(dependencies).sort());
    expect(named(development).sort()).toEqual(Object.keys(devDependencies).sort());
  });
});

describe('the examples', () => {
  test('hold a fixture that loads, with an id that no double holds', () => {
    const { animals, inventory, orders } = loadFixture(
      fixtureFile(onlyBlock(section(README, 'Fixtures'), 'json fixture')),
    );
    expect(animals.at(1)).toMatchObject({ id: 9_007_199_254_740_993n, name: 'Whiskers' });
    expect([animals.size, inventory.size, orders.size]).toEqual([2, 1, 3]);
  });

  test('hold a config file whose flags are all known', () => {
    const text = onlyBlock(section(README, 'Commands and flags'), 'json config');
    const layer = fromConfigFile(fixtureFile(text), '--config');
    expect([...layer.keys()]).toEqual(Object.keys(JSON.parse(text)));
  });

  const programs = blocks(section(README, 'In your own tests and apps'), 'js').map((program) => ({
    program,
    uses: usesOf(program),
  }));

  test('start a mock and embed it', () => {
    expect(programs.map(({ uses }) => uses)).toEqual(['startPetstoreMock', 'createApp']);
  });

  test.each(programs)('print what they say they print: $uses', async ({ program }) => {
    expect(await printedBy(program)).toEqual(promisedBy(program));
  });
});

test('the log has the members that are told of, and no other', () => {
  const exchange = new Exchange();
  const line = renderJson('default', {
    ...exchange,
    operation: 'getPet',
    status: 200,
    fault: 'truncate',
    delay: 5,
    basis: { kind: 'forced', by: 'flaky#1' },
    key: 'demo…',
    why: ['a rule'],
  });
  const [, told = ''] = /it has the members (.*), less/.exec(section(README, 'The log')) ?? [];
  const members = [...told.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  expect(members).toEqual(Object.keys(JSON.parse(line)));
});
