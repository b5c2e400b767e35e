import { once } from 'node:events';
import { Writable } from 'node:stream';
import { run } from '../../src/cli/dispatch.ts';
import { createTerminal } from '../../src/terminal/terminal.ts';
import type { CommandResult } from './command.ts';
import type { Environment } from './program.ts';

type Finished = Omit<CommandResult, 'signal'>;

/** Keeps what is written, and emits `text` with each piece. */
class Printed extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    this.emit('text');
    done();
  }
}

/** Runs `petstore-mock` in this process, up to where its process would end: much faster. */
export function runInProcess(words: readonly string[], env: Environment = {}): Promise<Finished> {
  return startInProcess(words, env).ended;
}

/** The same without waiting for its end. */
export function startInProcess(words: readonly string[], env: Environment = {}) {
  const [output, notices] = [new Printed(), new Printed()];
  const { listAdded, forget } = rememberListeners();
  const ended = run(words, env, createTerminal(output, notices, env)).then(({ exitCode }) => {
    forget();
    return { code: exitCode, stdout: output.text, stderr: notices.text };
  });
  /** Does what a signal does, and waits for the end. */
  const kill = (signal: Signal): Promise<Finished> => {
    for (const listener of listAdded(signal)) listener(signal);
    return ended;
  };
  return {
    ended,
    /** Everything printed so far. */
    stdout: () => output.text,
    stderr: () => notices.text,
    /** Resolves with the next text on standard output or standard error. */
    printed: () => once(output, 'text'),
    told: () => once(notices, 'text'),
    kill,
    stop: () => kill('SIGTERM'),
  };
}

/** Starts a server in this process, and waits for its ready line. Give it `--port 0`. */
export async function serveInProcess(words: readonly string[], env: Environment = {}) {
  const started = startInProcess(words, env);
  await Promise.race([started.printed(), started.ended]);
  const [, url] = /^petstore-mock ready (\S+)\n/.exec(started.stdout()) ?? [];
  if (url === undefined) throw new Error(`It ended before it was ready: ${started.stderr()}`);
  return { ...started, url };
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
type Signal = (typeof SIGNALS)[number];

/** Returns which listeners of this process are new, and what undoes the changes to them, as its end would. */
function rememberListeners() {
  const before = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]));
  const warned = process.listeners('warning');
  const listAdded = (signal: Signal) =>
    process.listeners(signal).filter((it) => before.get(signal)?.includes(it) !== true);
  const forget = (): void => {
    for (const signal of SIGNALS) {
      for (const listener of listAdded(signal)) process.off(signal, listener);
    }
    // A log of JSON takes away who prints them in lines of text.
    process.removeAllListeners('warning');
    for (const listener of warned) process.on('warning', listener);
  };
  return { listAdded, forget };
}
