import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { createApp } from '../../src/index.ts';
import { packageRoot } from '../../src/package.ts';
import { freePort } from './host.ts';
import { allBlocks, type Block } from './page.ts';

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
    if (block.info !== 'sh') return [];
    const next = all[index + 1];
    const shown = next?.follows && OUTPUTS.includes(next.info) ? next : undefined;
    const lines = block.text.trimEnd().split('\n');
    return lines.map((line, at) => {
      const [, command = line, result] = /^(.*?) {2}# (.*)$/.exec(line) ?? [];
      return { kind: 'run', command, result, shown: at === lines.length - 1 ? shown : undefined };
    });
  });
}

/** A command that starts a server, with variables before it or not. */
const SERVER = /^((?:[A-Z_]+=\S+ )*)(?:npx )?(petstore-mock(?: --.*)?)$/;

/** A command whose server would listen beyond loopback, which no test may do. */
const OPEN_SERVER = /^petstore-mock --host 0\.0\.0\.0 --control-token (\S+)$/;

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
  #stop: (() => Promise<void>) | undefined;

  async start(): Promise<void> {
    this.#port = String(await freePort());
    const bin = join(this.#home, 'bin');
    mkdirSync(bin);
    symlinkSync(join(packageRoot, 'dist/cli/main.js'), join(bin, 'petstore-mock'));
    writeFileSync(join(bin, 'npx'), NPX, { mode: 0o755 });
    writeFileSync(join(this.#home, '.curlrc'), CURLRC);
  }

  async end(): Promise<void> {
    await this.#stop?.();
    for (const folder of [this.#folder, this.#home]) rmSync(folder, { recursive: true });
  }

  async take(step: Step): Promise<void> {
    if (step.kind === 'save') {
      writeFileSync(join(this.#folder, step.file), this.#ported(step.text));
      return;
    }
    const { command, result, shown } = step;
    if (result === undefined) return this.#restart(command, shown);
    const { stdout, stderr, exit } = await this.#run(command);
    const [, status = ''] = [...stderr.matchAll(CURL_STATUS)].at(-1) ?? [];
    const actual = result.startsWith('curl') ? `curl (${exit})` : `exit ${exit}`;
    expect(/^\d/.test(result) && exit === 0 ? status : actual, `${command}\n${stderr}`).toBe(
      result,
    );
    if (shown === undefined) return;
    const told = shown.info === 'text' ? stdout + stderr.replace(CURL_STATUS, '') : stdout;
    expectShown(told.replaceAll(this.#port, PORT), shown, command);
  }

  #ported(text: string): string {
    return text.replaceAll(`127.0.0.1:${PORT}`, `127.0.0.1:${this.#port}`);
  }

  #env(command: string): NodeJS.ProcessEnv {
    return {
      PATH: `${join(this.#home, 'bin')}:${process.env.PATH}`,
      HOME: this.#home,
      CURL_HOME: this.#home,
      no_proxy: '*',
      // `exec` and `sweep` take a free port beside the server that may be running.
      ...(/ ctl /.test(command) && { PETSTORE_MOCK_URL: `http://127.0.0.1:${this.#port}/v1` }),
      ...(!/ (?:exec|sweep) /.test(command) && { PETSTORE_MOCK_PORT: this.#port }),
    };
  }

  #run(command: string): Promise<{ stdout: string; stderr: string; exit: number }> {
    return new Promise((resolve) => {
      const options = { cwd: this.#folder, env: this.#env(command) };
      execFile('bash', ['-c', this.#ported(command)], options, (error, stdout, stderr) => {
        resolve({ stdout, stderr, exit: Number(error?.code ?? 0) });
      });
    });
  }

  async #restart(command: string, shown: Block | undefined): Promise<void> {
    await this.#stop?.();
    this.#stop = undefined;
    const [, controlToken] = OPEN_SERVER.exec(command) ?? [];
    if (controlToken !== undefined) {
      this.#stop = await serveApp(controlToken, Number(this.#port));
      return;
    }
    const [, variables = '', words] = SERVER.exec(command) ?? [];
    if (words === undefined) throw new Error(`This command has no result: ${command}`);
    const line = `${variables === '' ? '' : `export ${variables}; `}exec ${words}`;
    const child = spawn('bash', ['-c', line], {
      cwd: this.#folder,
      env: this.#env(command),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#stop = async () => {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      expect(await exited, command).toEqual([0, null]);
    };
    const ready = await readyLine(child);
    if (shown !== undefined) expectShown(ready.replaceAll(this.#port, PORT), shown, command);
  }
}

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

async function readyLine(child: ChildProcess): Promise<string> {
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  if (child.stdout === null) throw new Error('The server has no output.');
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('petstore-mock ready ')) continue;
    child.stdout.resume();
    return line;
  }
  throw new Error(`The server ended before it was ready: ${complaint}`);
}

/** The mock on loopback, asking for the token that it would ask for elsewhere. */
async function serveApp(controlToken: string, port: number): Promise<() => Promise<void>> {
  const server = createServer(createApp({ controlToken }));
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
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
  // Nothing of a run that this test is a part of, and no proxy.
  const options = { cwd: packageRoot, env: { PATH: process.env.PATH } };
  const words = ['--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, words, options);
  const promised = [...program.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, it]) => it);
  expect(promised).not.toEqual([]);
  expect(stdout.trimEnd().split('\n')).toEqual(promised);
}
