import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { codeOf } from '../failures.ts';
import { anyRuns, startedBy } from './process-tree.ts';

/** How a command came to its end. */
export type Ending =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signalled'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'timed-out'; readonly seconds: number }
  /** `code` is that of Node's error, such as `ENOENT`. */
  | { readonly kind: 'not-started'; readonly code: string | undefined };

export interface CommandOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Told of what the command prints. Without it, the command has our own input and output. */
  readonly onOutput?: ((bytes: Buffer) => void) | undefined;
  /**
   * Whether the command and all that it starts are a group of their own, which can be ended whole.
   * On a terminal they would lose it: keys such as Ctrl-C reach only the group that is in front.
   */
  readonly apart: boolean;
  /** Seconds after which the command is ended. */
  readonly timeout?: number | undefined;
  /** Milliseconds between asking a command to end and ending it by force. */
  readonly grace?: number | undefined;
}

export interface RunningCommand {
  /** Settles when the command has ended, and with it all that it left running in its group. */
  readonly ending: Promise<Ending>;
  /** Passes a signal on. */
  send(signal: NodeJS.Signals): void;
  /** Ends the command and all that it started: by SIGTERM, and by SIGKILL after the grace period. */
  stop(): void;
}

const GRACE = 5000;

/** How often we look whether what a command left running has ended, in milliseconds. */
const LOOK_EVERY = 20;

/** Milliseconds for which output is awaited of a command that has ended. */
const LAST_OUTPUT = 500;

/** What would outlive us where we end without warning. */
const running = new Set<Processes>();
process.on('exit', () => {
  for (const processes of running) processes.stop('SIGKILL');
});

/** Names the runs that a process belongs to, the outermost first, so that it is found wherever it goes. */
const RUN = 'PETSTORE_MOCK_RUN';

let started = 0;

/** A text that no other run has. */
function newMark(): string {
  started += 1;
  return `${process.pid}.${started}.${Date.now().toString(36)}`;
}

/** Starts a command: a program and its arguments, with no shell between. */
export function runCommand(words: readonly string[], options: CommandOptions): RunningCommand {
  const { onOutput, timeout, grace = GRACE } = options;
  const apart = options.apart && process.platform !== 'win32';
  const [program = '', ...args] = words;
  const mark = newMark();
  const around = options.environment[RUN];
  let child: ChildProcess;
  try {
    child = spawn(program, args, {
      env: { ...options.environment, [RUN]: around === undefined ? mark : `${around} ${mark}` },
      stdio: onOutput === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe'],
      detached: apart,
    });
  } catch (error) {
    const ending: Ending = { kind: 'not-started', code: codeOf(error) };
    return { ending: Promise.resolve(ending), send: () => {}, stop: () => {} };
  }
  if (onOutput !== undefined) {
    child.stdout?.on('data', onOutput);
    child.stderr?.on('data', onOutput);
  }
  const processes = new Processes(child, apart, mark);
  running.add(processes);
  let timedOut = false;
  let force: NodeJS.Timeout | undefined;
  const stop = (): void => {
    processes.stop('SIGTERM');
    force ??= setTimeout(() => processes.stop('SIGKILL'), grace);
  };
  const limit =
    timeout === undefined
      ? undefined
      : setTimeout(() => {
          timedOut = true;
          stop();
        }, timeout * 1000);
  const end = async (): Promise<Ending> => {
    const ending = await endingOf(child);
    clearTimeout(limit);
    if (ending.kind !== 'not-started') {
      await endLeftovers(processes, grace);
      await lastOutput(child);
    }
    clearTimeout(force);
    running.delete(processes);
    return timedOut && timeout !== undefined ? { kind: 'timed-out', seconds: timeout } : ending;
  };
  return { ending: end(), send: (signal) => processes.send(signal), stop };
}

/** A command's process and those that it started, as far as they can be found. */
class Processes {
  readonly #child: ChildProcess;
  readonly #apart: boolean;
  readonly #mark: string;
  /** Those that no signal to a group reaches, with whether they were asked to end. */
  readonly #others = new Map<number, boolean>();
  #asked = false;

  constructor(child: ChildProcess, apart: boolean, mark: string) {
    this.#child = child;
    this.#apart = apart;
    this.#mark = mark;
  }

  send(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (this.#apart && pid !== undefined) signalTo(-pid, signal);
    else this.#child.kill(signal);
  }

  /** Asks them all to end, or ends them. */
  stop(signal: 'SIGTERM' | 'SIGKILL'): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    // Before any of them ends, since the children of one that has ended are no longer known as such.
    this.#findOthers(pid);
    this.send(signal);
    this.#asked = true;
    this.#signalOthers(signal);
  }

  /**
   * Sees to what is left of them when the command has ended. None is asked to end twice, as one that
   * is about to may take the second time for an order to leave at once.
   *
   * @returns whether any is left
   */
  stopLeft(signal: 'SIGTERM' | 'SIGKILL'): boolean {
    const { pid } = this.#child;
    if (pid === undefined) return false;
    this.#findOthers(pid);
    let left = false;
    if (this.#apart) {
      const groupSignal = signal === 'SIGTERM' && this.#asked ? 0 : signal;
      left = signalTo(-pid, groupSignal) && anyRuns(({ group }) => group === pid);
      this.#asked = true;
    }
    const reached = new Set(this.#signalOthers(signal));
    return left || (reached.size > 0 && anyRuns((entry) => reached.has(entry.pid)));
  }

  #findOthers(pid: number): void {
    for (const { pid: other, group } of startedBy(pid, this.#mark)) {
      const isReached = this.#apart && group === pid;
      if (!isReached && !this.#others.has(other)) this.#others.set(other, false);
    }
  }

  /** @returns those that are there */
  #signalOthers(signal: 'SIGTERM' | 'SIGKILL'): number[] {
    return [...this.#others].flatMap(([other, asked]) => {
      this.#others.set(other, true);
      return signalTo(other, signal === 'SIGTERM' && asked ? 0 : signal) ? other : [];
    });
  }
}

/** @returns whether there was somebody to get it */
function signalTo(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

function endingOf(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve) => {
    child.once('error', (error) => {
      // Any other error is about a signal that could not be sent.
      if (child.pid === undefined) resolve({ kind: 'not-started', code: codeOf(error) });
    });
    child.once('exit', (code, signal) => {
      resolve(
        signal === null ? { kind: 'exited', code: code ?? 1 } : { kind: 'signalled', signal },
      );
    });
  });
}

async function endLeftovers(processes: Processes, grace: number): Promise<void> {
  const until = performance.now() + grace;
  let left = processes.stopLeft('SIGTERM');
  while (left && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
    left = processes.stopLeft('SIGTERM');
  }
  if (left) processes.stopLeft('SIGKILL');
}

/** Waits until all that was printed has been read. A process that has left the group may hold it open. */
async function lastOutput({ stdout, stderr }: ChildProcess): Promise<void> {
  const streams = [stdout, stderr].flatMap((stream) => stream ?? []);
  const open = streams.filter((stream) => !stream.closed);
  const closed = Promise.all(
    open.map((stream) => new Promise<void>((resolve) => stream.once('close', () => resolve()))),
  );
  let timer: NodeJS.Timeout | undefined;
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, LAST_OUTPUT);
  });
  await Promise.race([closed, enough]);
  clearTimeout(timer);
  for (const stream of streams) stream.destroy();
}

/** What a shell would say of a command that ended so, and `timeout` of one that took too long. */
export function exitCodeOf(ending: Ending): number {
  switch (ending.kind) {
    case 'exited':
      return ending.code;
    case 'signalled':
      return signalExitCode(ending.signal);
    case 'timed-out':
      return 124;
    case 'not-started':
      return ending.code === 'ENOENT' ? 127 : 126;
  }
}

export function signalExitCode(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/** How a command ended, as the end of a sentence that began with its name. */
export function tellEnding(ending: Ending): string {
  switch (ending.kind) {
    case 'exited':
      return `ended with status ${ending.code}`;
    case 'signalled':
      return `was ended by ${ending.signal} (signal ${constants.signals[ending.signal]})`;
    case 'timed-out':
      return `took longer than ${ending.seconds} s, and was ended`;
    case 'not-started':
      return `cannot be started: ${whyNotStarted(ending.code)}`;
  }
}

function whyNotStarted(code: string | undefined): string {
  switch (code) {
    case 'ENOENT':
      return 'there is no such program';
    case 'EACCES':
      return 'it is no program, or may not be run';
    default:
      return `the system refuses (${code ?? 'for no known reason'})`;
  }
}
