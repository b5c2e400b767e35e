import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { packageRoot } from '../../src/package.ts';
import { readPage, section } from '../helpers/page.ts';
import { runProgram } from '../helpers/program.ts';

/** Text that goes into a file before other text. */
interface Plant {
  readonly file: string;
  readonly before: string;
  readonly text: string;
}

/** The first step of adding one of each kind, with the other steps left out. */
const PLANTS: Readonly<Record<string, readonly Plant[]>> = {
  'Add an operation': [
    {
      file: 'src/contract/operations.ts',
      before: '  listOrders: {',
      text: `  planted: {
        method: 'GET', path: '/planted/{petId}', tag: 'Animals', summary: 'Planted',
        description: 'Planted.', parameters: [PET_ID],
        replies: { 200: { description: 'One.', body: { record: 'Animal' } }, 401: UNAUTHORIZED },
      },\n`,
    },
  ],
  'Add an assumption': [
    {
      file: 'src/contract/assumptions/input-assumptions.ts',
      before: "  'limit-out-of-range': {",
      text: `  planted: {
        question: 'Planted?', touches: ['getPet'],
        options: [option('no', 'no'), option('yes', 'yes', reply(418, 'Planted.'))],
      },\n`,
    },
  ],
  'Add a fault': [
    {
      file: 'src/scenario/fault-table.ts',
      before: "  | { readonly kind: 'close' }",
      text: "  | { readonly kind: 'planted' }\n",
    },
  ],
  'Add a command': [
    {
      file: 'src/cli/command-table.ts',
      before: '  exec: {',
      text: "  planted: { summary: 'Planted.', examples: [['planted', 'plant']] },\n",
    },
  ],
  'Add an endpoint of the control API': [
    {
      file: 'src/control/state/clock-endpoints.ts',
      before: "  {\n    id: 'getClock'",
      text: `  {
        id: 'getPlanted', route: ['get', '/planted'], summary: 'Planted',
        replies: REPLIES,
        handle: ({ sandbox }) => clockReply(sandbox.clock),
      },\n`,
    },
  ],
  'Add a finding': [
    {
      file: 'src/evidence/finding-codes.ts',
      before: "  deprecated: '",
      text: "  planted: 'Planted.',\n",
    },
  ],
};

const COPIED = ['src', 'test', 'scripts', 'docs', 'fixtures', 'scenarios', 'examples'];
const FILES = ['package.json', 'tsconfig.json', 'vitest.config.ts', 'README.md', 'CONTRIBUTING.md'];

const CONTRIBUTING = readPage('CONTRIBUTING.md');

/** A copy of the project in which it is planted. */
function planted(plants: readonly Plant[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'planted-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const path of [...COPIED, ...FILES]) {
    cpSync(join(packageRoot, path), join(folder, path), {
      recursive: true,
      // The tools of single tests are larger than all else together.
      filter: (source) => !source.endsWith('node_modules'),
    });
  }
  symlinkSync(join(packageRoot, 'node_modules'), join(folder, 'node_modules'), 'junction');
  for (const { file, before, text } of plants) {
    const path = join(folder, file);
    const source = readFileSync(path, 'utf8');
    expect(source, file).toContain(before);
    writeFileSync(
      path,
      source.replace(before, () => text + before),
    );
  }
  return folder;
}

const inSource = (file: string) => (file.startsWith('test/') ? file : `src/${file}`);

describe.each(Object.entries(PLANTS))('the list to %s', (title, plants) => {
  const list = section(CONTRIBUTING, title);
  let folder = '';
  beforeEach(() => {
    folder = planted(plants);
  });

  test('names every file of src/ in which the compiler reports what is missing', async () => {
    const tsc = join(packageRoot, 'node_modules/typescript/bin/tsc');
    const { output } = await runProgram(process.execPath, [tsc, '--pretty', 'false'], {
      cwd: folder,
    });
    // Only what lacks a member: other errors follow from those.
    const missing = [...output.matchAll(/^(\S+)\(\d+,\d+\): error TS27(?:39|40|41):/gm)];
    const incomplete = new Set(missing.map(([, file = '']) => file));
    const sentence = /^\d+\. The compiler names .*$/m.exec(list)?.[0] ?? '';
    const named = [...sentence.matchAll(/`([\w./-]+\.ts)`/g)].map(([, file = '']) =>
      inSource(file),
    );
    expect([...incomplete]).toEqual(expect.arrayContaining(named));
    const ofSource = [...incomplete].filter((file) => file.startsWith('src/'));
    expect(named).toEqual(expect.arrayContaining(ofSource));
  });

  test('names every page of docs/ whose table is out of date', async () => {
    const vitest = join(packageRoot, 'node_modules/vitest/vitest.mjs');
    const args = [vitest, 'run', 'test/docs/tables.test.ts', '--reporter=verbose'];
    const { output } = await runProgram(process.execPath, args, { cwd: folder });
    const failed = [...output.matchAll(/^ *[×✗] .*the tables of (docs\/[\w-]+\.md) list/gm)];
    const outdated = [...new Set(failed.map(([, page = '']) => page))];
    const named = [...list.matchAll(/`(docs\/[\w-]+\.md)`/g)].map(([, page = '']) => page);
    // The table of faults is made of a table that the compiler wants completed first.
    if (title !== 'Add a fault') expect(outdated.sort()).toEqual([...new Set(named)].sort());
  });
});
