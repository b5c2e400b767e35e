import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../../error-code.ts';
import type { Ending } from './ending.ts';

export interface CommandOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Receives what the command prints. Without it, the command shares our input and output. */
  readonly onOutput?: ((bytes: Buffer) => void) | undefined;
  /**
   * Whether the command gets a process group of its own, so that everything it starts can be ended
   * with it. Not on a terminal: Ctrl-C and the keyboard reach only the foreground group.
   */
  readonly ownGroup: boolean;
  /** Milliseconds after which the command is ended. */
  readonly timeout?: number | undefined;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly grace?: number | undefined;
}

export interface RunningCommand {
  /** Settles when the command and the rest of its process group have ended. */
  readonly ending: Promise<Ending>;
  /** Passes a signal on. */
  send(signal: NodeJS.Signals): void;
  /** Ends the command: SIGTERM, then SIGKILL after the grace period. */
  stop(): void;
}

const GRACE = 5000;

/** Milliseconds between checks that the process group is empty. */
const POLL_EVERY = 20;

/** Milliseconds to wait for output after a command ended. A daemon may keep the pipe open. */
const LAST_OUTPUT = 500;

/** Running commands, killed if this process exits first. */
const running = new Set<(signal: NodeJS.Signals) => boolean>();
process.on('exit', () => {
  for (const send of running) send('SIGKILL');
});

/** Starts a program with its arguments; no shell is involved. */
export function runCommand(words: readonly string[], options: CommandOptions): RunningCommand {
  const { timeout, grace = GRACE } = options;
  const ownGroup = options.ownGroup && process.platform !== 'win32';
  let child: ChildProcess;
  try {
    child = start(words, options, ownGroup);
  } catch (error) {
    const ending: Ending = { kind: 'not-started', code: codeOf(error) };
    return { ending: Promise.resolve(ending), send: () => {}, stop: () => {} };
  }
  const send = (signal: NodeJS.Signals | 0) =>
    ownGroup ? signalGroup(child, signal) : child.kill(signal);
  running.add(send);
  let force: NodeJS.Timeout | undefined;
  const stop = () => {
    if (force !== undefined) return;
    send('SIGTERM');
    force = setTimeout(() => send('SIGKILL'), grace);
  };
  let timedOut: Ending | undefined;
  const expire = (milliseconds: number) => {
    timedOut = { kind: 'timed-out', seconds: milliseconds / 1000 };
    stop();
  };
  const end = async (): Promise<Ending> => {
    const limit = timeout && setTimeout(expire, timeout, timeout);
    const closed = new Promise((resolve) => child.once('close', resolve));
    const ending = await endingOf(child);
    clearTimeout(limit);
    if (ending.kind !== 'not-started') {
      stop(); // whatever is left of the group
      const until = performance.now() + grace + POLL_EVERY;
      while (send(0) && performance.now() < until) await sleep(POLL_EVERY);
      await Promise.race([closed, sleep(LAST_OUTPUT, undefined, { ref: false })]);
      child.stdout?.destroy();
      child.stderr?.destroy();
    }
    clearTimeout(force);
    running.delete(send);
    return timedOut ?? ending;
  };
  return { ending: end(), send, stop };
}

function start(
  [program = '', ...args]: readonly string[],
  { environment, onOutput }: CommandOptions,
  detached: boolean,
): ChildProcess {
  const stdio: StdioOptions = onOutput === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe'];
  const child = spawn(program, args, { env: environment, stdio, detached });
  if (onOutput !== undefined) {
    child.stdout?.on('data', onOutput);
    child.stderr?.on('data', onOutput);
  }
  return child;
}

/** @returns whether any process received it */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  try {
    return pid !== undefined && process.kill(-pid, signal);
  } catch {
    return false;
  }
}

function endingOf(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve) => {
    child.once('error', (error) => {
      // With a pid, the error means that a signal could not be sent.
      if (child.pid === undefined) resolve({ kind: 'not-started', code: codeOf(error) });
    });
    child.once('exit', (code, signal) => {
      resolve(
        signal === null ? { kind: 'exited', code: code ?? 1 } : { kind: 'signalled', signal },
      );
    });
  });
}
