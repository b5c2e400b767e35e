import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { OperationId } from '../../src/contract/operations.ts';
import { listReplies } from '../../src/responses/reply-recipes.ts';
import { curlLines } from '../../src/responses/request-files.ts';

const run = promisify(execFile);

/** Runs all that `responses OPERATION --curl` prints; what changes the store runs twice. */
export async function runCurlLines(operation: OperationId, origin: string): Promise<void> {
  const replies = listReplies().filter((listed) => listed.operation === operation);
  const blocks = curlLines(replies, origin).split('\n\n');
  expect(blocks).toHaveLength(3 * replies.length);
  const all = [...blocks, ...blocks.filter((block) => /# (204|409|507)$/.test(block.trim()))];
  // One shell runs them all: a process for each costs more than the requests.
  const script = all.map((block) => `echo '=== next'\n${block}`).join('\n');
  const { stdout } = await run('bash', ['-c', script], { maxBuffer: 2 ** 26 });
  const got = stdout.split('=== next\n').slice(1);
  expect(got.map((text) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].at(-1)?.[1])).toEqual(
    all.map((block) => /# (\d+)$/.exec(block.trim())?.[1]),
  );
}

/** Sends each request of a `.http` file and compares its status with its title's; the titles. */
export async function runHttpFile(text: string, origin: string): Promise<ReadonlySet<string>> {
  const [head = '', ...requests] = text.split(/^### /m);
  const variables = Object.fromEntries(
    [...head.matchAll(/^@(\w+) = (.*)$/gm)].map(([, name, value]) => [name, value]),
  );
  expect(variables).toEqual({ host: origin, key: 'demo-key' });
  const seen = new Set<string>();
  for (const request of requests) {
    const filled = request.replaceAll(/\{\{(\w+)\}\}/g, (_all, name) => `${variables[name]}`);
    const [top = '', ...bodies] = filled.replace(/\n+$/, '').split('\n\n');
    const [title = '', line = '', ...headers] = top.split('\n');
    const [method = '', url = ''] = line.split(' ');
    const reply = await fetch(url, {
      method,
      headers: headers.map((header): [string, string] => {
        const [name = '', value = ''] = header.split(': ');
        return [name, value];
      }),
      ...(bodies.length > 0 && { body: bodies.join('\n\n') }),
    });
    await reply.text();
    const wanted = / gets (\d+)$/.exec(title)?.[1];
    if (wanted !== undefined) expect(`${reply.status}`, title).toBe(wanted);
    if (wanted !== undefined) seen.add(title);
  }
  return seen;
}
