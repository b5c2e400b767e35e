import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import {
  listReplies,
  listSafeSteps,
  type RecipeStep,
  type ReplyRecipe,
  WAY_NAMES,
  type WayName,
} from '../../src/cli/commands/reply-recipes.ts';
import { responses } from '../../src/cli/commands/responses.ts';
import type { Flags } from '../../src/cli/flags.ts';
import { ASSUMPTION_IDS, assumptionShape } from '../../src/core/contract/assumption-table.ts';
import { BODY_LIMITS } from '../../src/core/contract/assumptions/protocol-assumptions.ts';
import { checkBody, isViolation } from '../../src/core/contract/check-reply.ts';
import { OPERATION_IDS, operationShape } from '../../src/core/contract/operations.ts';
import { parseBody } from '../../src/features/deployment/deployment-reply.ts';
import { createTerminal } from '../../src/terminal/terminal.ts';
import { serverFor } from '../helpers/deployment.ts';
import { openMock } from '../helpers/in-process.ts';
import { spawnProgram } from '../helpers/program.ts';
import type { Answer, Client } from '../helpers/wire.ts';

async function print(flags: Flags, operation?: string) {
  const terminal = createTerminal(new PassThrough(), new PassThrough(), {});
  const positionals = operation === undefined ? [] : [operation];
  return responses({ flags, positionals, terminal });
}

test('the list has exactly the documented and assumed replies of the contract', async () => {
  const documented = OPERATION_IDS.flatMap((id) =>
    Object.keys(operationShape(id).replies).map((status) => `${id} ${status} documented`),
  );
  const assumed = ASSUMPTION_IDS.flatMap((id) =>
    Object.entries(assumptionShape(id).replies ?? {}).flatMap(([name, { status }]) =>
      assumptionShape(id).touches.map((on) => `${on} ${status} ${id}=${name}`),
    ),
  );
  const listed: { operation: string; status: number; ground: string }[] = Object(
    (await print({})).json,
  );
  const names = listed.map((it) => `${it.operation} ${it.status} ${it.ground}`);
  expect(names.toSorted()).toEqual([...documented, ...assumed].toSorted());
});

test('a body that is too large is one byte too large', () => {
  const sizes = listReplies().map(({ way }) => way.send?.body);
  const expected = Object.values(BODY_LIMITS).map((limit) => limit + 1);
  expect(new Set(sizes.filter((it) => typeof it === 'number'))).toEqual(new Set(expected));
});

test('the table shows each way and fits the terminal', async () => {
  const { exitCode, text } = await print({}, 'cancelOrder');
  expect(exitCode).toBe(0);
  expect(text).toContain(`  409            documented
       state     PATCH /__mock/orders/1 {"status":"shipped"}; DELETE /v1/store/orders/1
       scenario  --scenario shipped-orders; DELETE /v1/store/orders/1
       prefer    Prefer: code=409
`);
  expect(text).not.toContain('listPets');
});

function expectedBasis({ ground, way }: ReplyRecipe, name: WayName): RegExp {
  if (name === 'prefer') return /^forced;by="prefer"$/;
  if (name === 'scenario' && way.scenario === undefined) return /^forced;by="[^"]+#1"$/;
  if (ground === 'documented') return /^documented$/;
  const [id = ''] = ground.split('=');
  return new RegExp(`^assumed;by="(.*, )?${name === 'state' ? ground : `${id}=.*`}(, .*)?"$`);
}

async function send(
  client: Client,
  { method, path, headers, body, times }: RecipeStep,
): Promise<Answer> {
  const content = typeof body === 'number' ? Buffer.alloc(body, ' ') : body;
  const sent = { key: null, headers: { 'Content-Type': undefined, ...headers }, body: content };
  let answer = await client.send(method, path, sent);
  for (let time = 1; time < times; time += 1) answer = await client.send(method, path, sent);
  return answer;
}

test('every reply comes of real state, a scenario and Prefer', async () => {
  const client = await openMock();
  for (const recipe of listReplies()) {
    for (const way of WAY_NAMES) {
      const title = `${recipe.operation} ${recipe.status} ${recipe.ground} by ${way}`;
      const steps = listSafeSteps(recipe, way);
      for (const step of steps.slice(0, -1)) {
        expect((await send(client, step)).status, title).toBeLessThan(400);
      }
      const { status, headers: named, text } = await send(client, steps.at(-1)!);
      expect(status, title).toBe(recipe.status);
      expect(named['mock-basis'], title).toMatch(expectedBasis(recipe, way));
      const body = Buffer.from(text);
      const headers = Object.entries(named).map(([name, value]) => [name, String(value)]);
      const reply = { status, headers: headers.flat(), body, json: parseBody(body) };
      const broken = checkBody(reply, recipe.operation).filter(isViolation);
      expect(broken, title).toEqual([]);
      if (recipe.ground !== 'documented') expect(body.length, title).toBeGreaterThan(0);
    }
  }
});

test('every curl line of cancelOrder gets the status in its comment, repeatedly', async () => {
  const { url } = await serverFor();
  const { text = '' } = await print({ curl: true, serverUrl: url }, 'cancelOrder');
  const blocks = text.split('\n\n');
  const statusIn = (block: string) => /# (\d+)$/.exec(block.trim())?.[1] ?? '';
  // What changes the store runs twice.
  const all = [...blocks, ...blocks.filter((it) => ['204', '409'].includes(statusIn(it)))];
  // One shell runs them all: a process for each costs more than the requests.
  const script = all.map((block) => `echo '=== next'\n${block}`).join('\n');
  const { printed, exited } = spawnProgram('bash', ['-c', script]);
  await exited;
  const outputs = printed.stdout.split('=== next\n').slice(1);
  const received = outputs.map((it) => [...it.matchAll(/HTTP\/1\.1 (\d+)/g)].at(-1)?.[1]);
  expect(received).toEqual(all.map(statusIn));
});
