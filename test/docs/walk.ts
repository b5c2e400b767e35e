import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import { parseJson } from '../../src/contract/json.ts';
import { createApp } from '../../src/index.ts';
import { packageRoot } from '../../src/package.ts';
import { allBlocks, type Block } from './page.ts';

/** What a reader of a page does next: save a file, or type a line. */
export type Step =
  | { readonly kind: 'save'; readonly label: string; readonly file: string; readonly text: string }
  | {
      readonly kind: 'type';
      /** With its number, so that no two steps of a page have one name. */
      readonly label: string;
      readonly command: string;
      /** What stands behind the command: `200`, `exit 2` or `curl (56)`. */
      readonly ending: string | undefined;
      readonly shown: Block | undefined;
    };

const OUTPUTS: readonly string[] = ['json', 'http', 'text'];

/** The steps of a page, in their order. */
export function stepsOf(page: string): Step[] {
  const all = allBlocks(page);
  const steps = all.flatMap((block, index): Step[] => {
    const [, file] = block.info.split(' ');
    if (file?.includes('.')) return [{ kind: 'save', label: file, file, text: block.text }];
    if (block.info !== 'sh') return [];
    const lines = block.text
      .replaceAll(/\\\n\s*/g, '')
      .trimEnd()
      .split('\n');
    const next = all[index + 1];
    const shown = next !== undefined && OUTPUTS.includes(next.info) ? next : undefined;
    return lines.map((line, at) => {
      const [, command = line, ending] = /^(.*?) {2}# (.*)$/.exec(line) ?? [];
      const last = at === lines.length - 1;
      return { kind: 'type', label: line, command, ending, shown: last ? shown : undefined };
    });
  });
  return steps.map((step, index) => ({ ...step, label: `${index + 1}: ${step.label}` }));
}

/** A line that starts a server, with variables before it or not, and runs on. */
const SERVER = /^(?:[A-Z_]+=\S+ )*petstore-mock(?: --.*)?$/;

/** A line that makes a server listen beyond loopback, where no test may listen. */
const OPEN_SERVER = /^petstore-mock --host 0\.0\.0\.0 --control-token (\S+)$/;

const PORT = '4010';

/** Has curl write what a step is compared with, beside what it shows its user. */
const CURLRC = 'silent\nwrite-out = "%{stderr}status %{http_code}\\n"\n';

/** What that has added, for whoever compares the rest. */
const CURL_STATUS = /^status \d+\n/gm;

/** A reader who follows a page in a folder of their own, with one server at a time. */
export class Walk {
  readonly #folder = mkdtempSync(join(tmpdir(), 'docs-'));
  readonly #home = mkdtempSync(join(tmpdir(), 'docs-home-'));
  #port = '';
  #stop: (() => Promise<void>) | undefined;

  async start(): Promise<void> {
    this.#port = String(await freePort());
    mkdirSync(join(this.#home, 'bin'));
    const main = join(packageRoot, 'dist/cli/main.js');
    const program = `#!/bin/sh\nexec '${execPath}' '${main}' "$@"\n`;
    writeFileSync(join(this.#home, 'bin/petstore-mock'), program, { mode: 0o755 });
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
    const { command, ending, shown } = step;
    if (ending === undefined) {
      expect(command, 'A line without an ending starts a server.').toMatch(SERVER);
      await this.#stop?.();
      this.#stop = await this.#serve(command);
      return;
    }
    const { stdout, stderr, exit } = await this.#run(command);
    const status = /^status (\d+)$/m.exec(stderr)?.[1] ?? '';
    if (ending.startsWith('exit ')) expect(`exit ${exit}`, stderr).toBe(ending);
    else if (ending.startsWith('curl ')) expect(`curl (${exit})`, stderr).toBe(ending);
    else expect([status, exit], stderr + stdout).toEqual([ending, 0]);
    if (shown === undefined) return;
    // What a command tells stands on standard error, after what the command that it runs has printed.
    const told = shown.info === 'text' ? stdout + stderr.replace(CURL_STATUS, '') : stdout;
    expectShown(told.replaceAll(this.#port, PORT), shown);
  }

  #ported(text: string): string {
    return text.replaceAll(`127.0.0.1:${PORT}`, `127.0.0.1:${this.#port}`);
  }

  get #env(): NodeJS.ProcessEnv {
    const { PATH } = process.env;
    return {
      PATH: `${join(this.#home, 'bin')}:${PATH}`,
      HOME: this.#home,
      CURL_HOME: this.#home,
      PETSTORE_MOCK_PORT: this.#port,
      no_proxy: '*',
    };
  }

  #run(command: string): Promise<{ stdout: string; stderr: string; exit: number }> {
    return new Promise((resolve) => {
      const options = { cwd: this.#folder, env: this.#env };
      execFile('bash', ['-c', this.#ported(command)], options, (error, stdout, stderr) => {
        resolve({ stdout, stderr, exit: Number(error?.code ?? 0) });
      });
    });
  }

  async #serve(command: string): Promise<() => Promise<void>> {
    const [, controlToken] = OPEN_SERVER.exec(command) ?? [];
    if (controlToken !== undefined) return serveApp(controlToken, Number(this.#port));
    const words = command.replace(/petstore-mock/, 'exec petstore-mock');
    // The variables before the program are for it, and exec is no program.
    const line = words.replace(/^((?:[A-Z_]+=\S+ )+)exec /, 'export $1; exec ');
    const stdio = ['ignore', 'pipe', 'pipe'] as const;
    const child = spawn('bash', ['-c', line], {
      cwd: this.#folder,
      env: this.#env,
      stdio: [...stdio],
    });
    await ready(child);
    return async () => {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      expect(await exited).toEqual([0, null]);
    };
  }
}

async function ready(child: ChildProcess): Promise<void> {
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  if (child.stdout === null) throw new Error('The server has no output.');
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    if (!line.startsWith('petstore-mock ready ')) continue;
    child.stdout.resume();
    return;
  }
  throw new Error(`The server ended before it was ready: ${complaint}`);
}

/** The whole mock behind loopback, asking for its token as it does where it listens elsewhere. */
async function serveApp(controlToken: string, port: number): Promise<() => Promise<void>> {
  const server = createServer(createApp({ controlToken }));
  await listening(server, port);
  return async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
}

function listening(server: Server, port: number): Promise<unknown> {
  const done = once(server, 'listening');
  server.listen(port, '127.0.0.1');
  return done;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await listening(server, 0);
  const address = server.address();
  const closed = once(server, 'close');
  server.close();
  await closed;
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return address.port;
}

/** Compares what a command printed with what its page shows. */
function expectShown(output: string, { info, text }: Block): void {
  if (info === 'json') expectJson(output, text);
  else if (info === 'text') expect(output.trimEnd()).toMatch(pattern(text.trimEnd()));
  else {
    const [head = '', body = ''] = split(output.replaceAll('\r\n', '\n'));
    const [shownHead = '', shownBody = ''] = split(text);
    for (const line of shownHead.split('\n')) expect(head.split('\n')).toContain(line);
    if (shownBody.trim() !== '') expectJson(body, shownBody);
  }
}

function split(message: string): string[] {
  const at = message.indexOf('\n\n');
  return at < 0 ? [message.trimEnd()] : [message.slice(0, at), message.slice(at + 2)];
}

const LEFT_OUT = '…';

function pattern(text: string): RegExp {
  const parts = text.split(LEFT_OUT).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}

function expectJson(output: string, text: string): void {
  const shown = parseJson(text);
  expect(asShown(parseJson(output), shown)).toEqual(shown);
}

/** A value with what its page leaves out left out. */
function asShown(value: unknown, shown: unknown): unknown {
  if (typeof shown === 'string' && shown.includes(LEFT_OUT)) {
    return shown === LEFT_OUT || pattern(shown).test(String(value)) ? shown : value;
  }
  if (Array.isArray(value) && Array.isArray(shown)) {
    const more = shown.at(-1) === LEFT_OUT;
    const values = more ? [...value.slice(0, shown.length - 1), LEFT_OUT] : value;
    return values.map((item, index) => asShown(item, shown[index]));
  }
  if (!isMembers(value) || !isMembers(shown)) return value;
  const members = Object.entries(value).map(([name, it]) => [name, asShown(it, shown[name])]);
  if (!Object.hasOwn(shown, LEFT_OUT)) return Object.fromEntries(members);
  const kept = members.filter(([name]) => Object.hasOwn(shown, String(name)));
  return { ...Object.fromEntries(kept), [LEFT_OUT]: shown[LEFT_OUT] };
}

function isMembers(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
