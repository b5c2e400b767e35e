import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot, packageVersion } from '../../src/server/files.ts';

const read = (file: string) => readFileSync(join(packageRoot, file), 'utf8');
const CONTRIBUTING = read('CONTRIBUTING.md');

const SOURCES = readdirSync(join(packageRoot, 'src'), {
  recursive: true,
  encoding: 'utf8',
}).filter((file) => /\.tsx?$/.test(file));

/** The first cells of the table that has this first column. */
function firstCells(column: string): string[] {
  const table = CONTRIBUTING.split('\n\n').find((text) => text.startsWith(`| ${column} `)) ?? '';
  const lines = table.split('\n').slice(2);
  return lines.map((line) => /^\| `([^`]+)`/.exec(line)?.[1] ?? '').filter((cell) => cell !== '');
}

const RINGS = [
  ...['core', 'server', 'client', 'terminal', 'features', 'features.ts'],
  ...['features/testing', 'cli', 'fetch.ts', 'index.ts'],
];
/** What has no folder is above all of these. */
const CORE = ['shape', 'contract', 'store', 'service', 'scenario', 'sandbox', 'control'];

/** What starts mocks for tests needs all other features, as the program does. */
const ringOf = (file: string): string =>
  file.startsWith('features/testing/') ? 'features/testing' : (file.split('/')[0] ?? '');

/** Such as `core`, `core/shape`, `cli` or `index.ts`. */
function partOf(file: string): string {
  const [ring = '', ...path] = file.split('/');
  const [folder] = /^(?:core|server|features)$/.test(ring) ? path.slice(0, -1) : [];
  return folder === undefined ? ring : `${ring}/${folder}`;
}

/** The imports, as `file imports file`, that are not allowed from the first place to the second. */
function violations(
  isAllowed: (own: string, other: string) => boolean,
  placeOf: (file: string) => string,
  files = SOURCES,
): string[] {
  return files.flatMap((file) => {
    const imports = read(`src/${file}`).matchAll(/(?:from|import|import\() ?'(\.[^']*)'/g);
    return [...imports].flatMap(([, path = '']) => {
      const target = normalize(join(dirname(file), path));
      return isAllowed(placeOf(file), placeOf(target)) ? [] : [`${file} imports ${target}`];
    });
  });
}

describe('the house', () => {
  const parts = firstCells('part of `src/`').map((part) => part.replace(/\/$/, ''));

  test('lists every part of src/', () => {
    expect([...new Set(SOURCES.map(partOf))].sort()).toEqual(parts.toSorted());
  });

  test('a ring imports only inwards', () => {
    const isInside = (own: string, other: string) => RINGS.indexOf(other) <= RINGS.indexOf(own);
    expect(violations(isInside, ringOf)).toEqual([]);
  });

  test('the client stands between the rings: it imports only from the core', () => {
    const client = SOURCES.filter((file) => file.startsWith('client/'));
    const isAllowed = (own: string, other: string) => other === own || other === 'core';
    expect(violations(isAllowed, ringOf, client)).toEqual([]);
  });

  test('the tests of the core, the server and a feature name no other feature, and stay when one goes', () => {
    const tests = readdirSync(join(packageRoot, 'test'), { recursive: true, encoding: 'utf8' })
      .filter((file) => /^(?:core|server|features\/[^/]+)\/.*\.ts$/.test(file))
      .map((file) => `test/${file}`);
    expect(tests.length).toBeGreaterThan(60);
    const named = tests.flatMap((file) => {
      const imports = read(file).matchAll(/from '[./]+src\/(features\/[^/]+)\//g);
      return [...imports].flatMap(([, other]) =>
        file.startsWith(`test/${other}/`) ? [] : [`${file} names ${other}`],
      );
    });
    expect(named).toEqual([]);
  });

  test('a folder of the core imports only from those above it', () => {
    const core = SOURCES.filter((file) => file.startsWith('core/'));
    const folderOf = (file: string) => /^core\/(\w+)\//.exec(file)?.[1] ?? '';
    const isAbove = (own: string, other: string) => CORE.indexOf(other) <= CORE.indexOf(own);
    expect(violations(isAbove, folderOf, core)).toEqual([]);
  });
});

test('every npm script that is mentioned exists', () => {
  const { scripts } = JSON.parse(read('package.json'));
  const names = [...CONTRIBUTING.matchAll(/`npm (?:run )?([\w:]+)`/g)].map(([, name]) => name);
  expect(names.filter((name) => !Object.hasOwn(scripts, name ?? ''))).toEqual([]);
});

test('every step of the command for all checks is mentioned', () => {
  const { scripts } = JSON.parse(read('package.json'));
  const steps: string[] = scripts.check.split(' && ');
  expect(firstCells('command')).toEqual(expect.arrayContaining(steps));
});

test('every source file that is mentioned exists', () => {
  const files = [...CONTRIBUTING.matchAll(/`([\w./-]+\.(?:ts|mjs|json))`/g)].map(
    ([, it]) => it ?? '',
  );
  const missing = files.filter(
    (file) =>
      !['', 'src', 'src/core/service'].some((at) => existsSync(join(packageRoot, at, file))),
  );
  expect(files.length).toBeGreaterThan(10);
  expect(missing).toEqual([]);
});

test('every name of the code that is mentioned exists', () => {
  const text = [
    ...SOURCES.map((file) => read(`src/${file}`)),
    read('test/helpers/in-process.ts'),
  ].join();
  const names = [...CONTRIBUTING.matchAll(/`([A-Z]\w+|[a-z]+[A-Z]\w+)(?:\.(\w+))?`/g)]
    .flatMap(([, name, member]) => [name ?? '', member ?? ''])
    .filter((name) => name !== '');
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
});

test('the changelog has this version', () => {
  expect(read('CHANGELOG.md')).toContain(`\n## ${packageVersion()} - `);
});

describe('a file of src/', () => {
  test('has no value in the core that may be a promise or not', () => {
    const core = SOURCES.filter((file) => file.startsWith('core/'));
    expect(
      core.filter((file) => /\| Promise<|Promise<[^;=]*> \|/.test(read(`src/${file}`))),
    ).toEqual([]);
  });

  test('has at most 300 lines', () => {
    expect(SOURCES.filter((file) => read(`src/${file}`).split('\n').length > 301)).toEqual([]);
  });

  test('has no doc comment that another one cuts off from what it describes', () => {
    expect(SOURCES.filter((file) => /\*\/\s*\/\*\*/.test(read(`src/${file}`)))).toEqual([]);
  });
});

/** Two entries of the package each have it, as their users expect. */
const PUBLIC = [
  ...['Animal', 'InventoryEntry', 'Order', 'MockFixtures', 'createTest', 'globalSetup', 'test'],
];

test('no two files of src/ export one name, those of the public library aside', () => {
  const homes = new Map<string, Set<string>>();
  for (const file of SOURCES) {
    const pattern = /^export (?:async )?(?:function|const|class|interface|type) (\w+)/gm;
    for (const [, name = ''] of read(`src/${file}`).matchAll(pattern)) {
      homes.set(name, new Set([...(homes.get(name) ?? []), file]));
    }
  }
  const shared = [...homes].flatMap(([name, files]) => (files.size > 1 ? [name] : []));
  expect(shared.sort()).toEqual(PUBLIC.toSorted());
});
