import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { packageRoot } from '../../src/server/files.ts';
import { MAIN, type RunningCommand, startCommand } from './command.ts';
import { freePort, TOKEN_HOST } from './host.ts';
import { allBlocks, type Block } from './page.ts';
import { type Environment, runProgram, spawnProgram } from './program.ts';

/** What the reader of a page does next: save a file, or run a command. */
export type Step =
  | { readonly kind: 'save'; readonly file: string; readonly text: string }
  | {
      readonly kind: 'run';
      readonly command: string;
      /** The comment after the command: `200`, `exit 2` or `curl (56)`. A server has none. */
      readonly result: string | undefined;
      readonly shown: Block | undefined;
    };

const OUTPUTS: readonly string[] = ['json', 'http', 'text'];

/** The steps of a page, in order. */
export function stepsOf(page: string): Step[] {
  const all = allBlocks(page);
  return all.flatMap((block, index): Step[] => {
    const [, file] = block.info.split(' ');
    if (file?.includes('.')) return [{ kind: 'save', file, text: block.text }];
    const next = all[index + 1];
    const shown = next?.follows && OUTPUTS.includes(next.info) ? next : undefined;
    if (block.info === 'sh clone' && /npm start/.test(block.text))
      return [{ kind: 'run', command: 'petstore-mock', result: undefined, shown }];
    if (block.info !== 'sh') return [];
    const lines = block.text.trimEnd().split('\n');
    return lines.map((line, at) => {
      const [, command = line, result] = /^(.*?) {2}# (.*)$/.exec(line) ?? [];
      return { kind: 'run', command, result, shown: at === lines.length - 1 ? shown : undefined };
    });
  });
}

/** A command that starts a server, with variables before it or not. */
const SERVER = /^((?:[A-Z_]+=\S+ )*)(?:npx )?petstore-mock((?: --.*)?)$/;

const PORT = '4010';

/** Makes curl report the status on standard error, apart from the output. */
const CURLRC = 'silent\nwrite-out = "%{stderr}status %{http_code}\\n"\n';
const CURL_STATUS = /^status (\d+)\n/gm;

/** npx with the package already in its cache: `npx petstore-mock …` or `npx --package … --call …`. */
const NPX = `#!/bin/sh
if [ "$1 $2 $3" = '--package petstore-mock --call' ]; then exec sh -c "$4"; fi
exec "$@"
`;

/** A reader who follows a page in a new folder, with one server at a time. */
class Walk {
  readonly #folder = mkdtempSync(join(tmpdir(), 'docs-'));
  readonly #home = mkdtempSync(join(tmpdir(), 'docs-home-'));
  #port = '';
  #server: RunningCommand | undefined;

  async start(): Promise<void> {
    this.#port = String(await freePort());
    const bin = join(this.#home, 'bin');
    mkdirSync(bin);
    symlinkSync(MAIN, join(bin, 'petstore-mock'));
    writeFileSync(join(bin, 'npx'), NPX, { mode: 0o755 });
    writeFileSync(join(this.#home, '.curlrc'), CURLRC);
  }

  async end(): Promise<void> {
    await this.#server?.stop();
    for (const folder of [this.#folder, this.#home]) rmSync(folder, { recursive: true });
  }

  async take(step: Step): Promise<void> {
    if (step.kind === 'save') {
      writeFileSync(join(this.#folder, step.file), this.#ported(step.text));
      return;
    }
    const { command, result, shown } = step;
    if (result === undefined) return this.#restart(command, shown);
    const options = { cwd: this.#folder, env: this.#env(command) };
    const { child, printed, exited } = spawnProgram('bash', ['-c', this.#ported(command)], options);
    child.stdin.end();
    const { code } = await exited;
    const { stdout, stderr } = printed;
    const [, status = ''] = [...stderr.matchAll(CURL_STATUS)].at(-1) ?? [];
    const actual = result.startsWith('curl') ? `curl (${code})` : `exit ${code}`;
    const isStatus = /^\d/.test(result) && code === 0;
    expect(isStatus ? status : actual, `${command}\n${stderr}`).toBe(result);
    if (shown === undefined) return;
    const output = shown.info === 'text' ? stdout + stderr.replace(CURL_STATUS, '') : stdout;
    expectShown(output.replaceAll(this.#port, PORT), shown, command);
  }

  #ported(text: string): string {
    return text.replaceAll(`127.0.0.1:${PORT}`, `127.0.0.1:${this.#port}`);
  }

  #env(command: string): Environment {
    return {
      PATH: `${join(this.#home, 'bin')}:${process.env.PATH}`,
      HOME: this.#home,
      CURL_HOME: this.#home,
      no_proxy: '*',
      ...(/ ctl /.test(command) && { PETSTORE_MOCK_URL: `http://127.0.0.1:${this.#port}/v1` }),
      PETSTORE_MOCK_PORT: this.#port,
    };
  }

  async #restart(command: string, shown: Block | undefined): Promise<void> {
    const stopped = await this.#server?.stop();
    expect(stopped ?? STOPPED).toEqual(STOPPED);
    const [, variables = '', flags] = SERVER.exec(command) ?? [];
    if (flags === undefined) throw new Error(`This command has no result: ${command}`);
    // No test may listen beyond loopback.
    const words = flags.replace('0.0.0.0', TOKEN_HOST).split(' ').filter(Boolean);
    const env = variables.split(' ').map((it) => it.split('='));
    const all = { ...this.#env(command), ...Object.fromEntries(env) };
    this.#server = await startCommand(words, all, { cwd: this.#folder });
    const [ready = ''] = this.#server.stdout().split('\n');
    if (shown !== undefined) expectShown(ready.replaceAll(this.#port, PORT), shown, command);
  }
}

const STOPPED = { code: 0, signal: null };

/** Follows the steps of a page. */
export async function takeWalk(steps: readonly Step[]): Promise<void> {
  const walk = new Walk();
  await walk.start();
  try {
    for (const step of steps) await walk.take(step);
  } finally {
    await walk.end();
  }
}

/** Compares the output of a command with what its page shows. */
function expectShown(output: string, { info, text }: Block, command: string): void {
  if (info !== 'http') {
    expect(squeezed(output, info), command).toMatch(pattern(squeezed(text, info)));
    return;
  }
  const [head = '', body = ''] = output.replaceAll('\r\n', '\n').split(/\n\n(.*)/s);
  const [shownHead = '', shownBody = ''] = text.split(/\n\n(.*)/s);
  for (const line of shownHead.trimEnd().split('\n')) {
    expect(head.split('\n'), command).toContain(line);
  }
  if (shownBody !== '')
    expectShown(body, { info: 'json', text: shownBody, follows: true }, command);
}

/** Pages may indent JSON, and align text, as they like. */
function squeezed(text: string, info: string): string {
  return text.trim().replaceAll(/\s+/g, info === 'json' ? '' : ' ');
}

/** `…` matches anything, even as a value or a member in JSON. */
function pattern(shown: string): RegExp {
  const parts = shown.split(/"…":"…"|"…"|…/);
  const escaped = parts.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  return new RegExp(`^${escaped.join('.*')}$`, 's');
}

/** Runs a JavaScript program of a page. Each `console.log(…); // TEXT` in it must print TEXT. */
export async function expectPrints(program: string): Promise<void> {
  const words = ['--input-type=module', '--eval', program];
  const { output } = await runProgram(process.execPath, words, { cwd: packageRoot });
  const promised = [...program.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, it]) => it);
  expect(promised).not.toEqual([]);
  expect(output.trimEnd().split('\n')).toEqual(promised);
}
