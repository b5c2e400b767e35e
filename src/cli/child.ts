import type { ChildProcess, StdioOptions } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import spawn from 'cross-spawn';
import { mockVariables, type ServerAccess } from '../client/mock-variables.ts';
import { hostName } from '../core/contract/base-url.ts';
import { override } from '../core/sandbox/start.ts';
import type { Scenario } from '../core/scenario/scenario-shape.ts';
import { steadyNow } from '../core/service/clock.ts';
import { DEMO_KEY, findWorkingKey, type KeyLists } from '../core/service/keyring.ts';
import { asError, errorCode } from '../core/thrown.ts';
import { roundDuration } from '../core/words.ts';
import type { ServerOptions } from '../features.ts';
import type { LoadedFiles } from '../server/load-files.ts';
import type { RunningServer } from '../server/server.ts';
import { Failure } from '../terminal/command.ts';
import type { Flags } from './flags.ts';
import { RUN_VALUES } from './run-flags.ts';
import {
  load,
  type PassedSignal,
  type ServeSettings,
  Signals,
  serveSettings,
  signalExitCode,
  start,
} from './start-server.ts';

export type ChildEnding =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signalled'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'timed-out'; readonly seconds: number }
  | { readonly kind: 'not-started'; readonly code: string | undefined };

export function describeEnding(ending: ChildEnding): { exitCode: number; text: string } {
  switch (ending.kind) {
    case 'exited':
      return { exitCode: ending.code, text: `exited with status ${ending.code}` };
    case 'signalled': {
      const text = `was killed by ${ending.signal} (signal ${constants.signals[ending.signal]})`;
      return { exitCode: signalExitCode(ending.signal), text };
    }
    case 'timed-out':
      // The program `timeout` exits with the same code.
      return { exitCode: 124, text: `timed out after ${ending.seconds} s` };
    case 'not-started': {
      const why = NOT_STARTED[ending.code ?? ''] ?? `error ${ending.code}`;
      return { exitCode: ending.code === 'ENOENT' ? 127 : 126, text: `cannot be started: ${why}` };
    }
  }
}

const NOT_STARTED: Readonly<Record<string, string>> = {
  ENOENT: 'no such program',
  EACCES: 'it is not executable',
  E2BIG: 'its words and the environment are too long',
};

export interface ChildOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Receives what the command prints. Without it, the command shares our input and output. */
  readonly onOutput?: ((text: string) => void) | undefined;
  /**
   * Gives the command a process group of its own, so that all of it can be ended together. On a terminal,
   * Ctrl-C would not reach that group.
   */
  readonly ownGroup: boolean;
  readonly timeout?: number | undefined;
  readonly grace?: number | undefined;
}

export type RunSettings = Pick<
  ServerOptions,
  'assume' | 'observe' | 'onFinding' | 'onControlCall' | 'onNotice' | 'onReload'
>;

export interface RunningChild {
  readonly ending: Promise<ChildEnding>;
  readonly send: (signal: NodeJS.Signals | 0) => boolean;
  readonly stop: () => void;
}

const KILL_AFTER_MS = 5000;

const POLL_INTERVAL_MS = 20;

/** How long to wait for output after a command ended: a daemon may keep the pipe open. */
const LAST_OUTPUT_TIMEOUT_MS = 500;

export function runChild(
  [program = '', ...args]: readonly string[],
  { environment: env, onOutput, ownGroup, timeout = 0, grace = KILL_AFTER_MS }: ChildOptions,
): RunningChild {
  const stdio: StdioOptions = onOutput === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe'];
  const detached = ownGroup && process.platform !== 'win32';
  let child: ChildProcess;
  try {
    child = spawn(program, args, { env, stdio, detached });
  } catch (error) {
    // Node throws what the system seldom refuses, such as words that are too long.
    const ending: ChildEnding = { kind: 'not-started', code: errorCode(error) };
    return { ending: Promise.resolve(ending), send: () => false, stop: () => {} };
  }
  if (onOutput !== undefined) {
    child.stdout?.setEncoding('utf8').on('data', onOutput);
    child.stderr?.setEncoding('utf8').on('data', onOutput);
  }
  const send = (signal: NodeJS.Signals | 0): boolean => {
    if (!detached) return child.kill(signal);
    try {
      return child.pid !== undefined && process.kill(-child.pid, signal);
    } catch {
      return false;
    }
  };
  let force: NodeJS.Timeout | undefined;
  const stop = () => {
    if (force !== undefined) return;
    send('SIGTERM');
    force = setTimeout(send, grace, 'SIGKILL');
  };
  let timedOut: ChildEnding | undefined;
  const expire = () => {
    timedOut = { kind: 'timed-out', seconds: timeout / 1000 };
    stop();
  };
  /** Resolves when the command and the rest of its process group have ended. */
  const end = async (): Promise<ChildEnding> => {
    const limit = timeout > 0 ? setTimeout(expire, timeout) : undefined;
    const closed = new Promise((resolve) => child.once('close', resolve));
    const ending = await waitForEnd(child);
    clearTimeout(limit);
    if (ending.kind !== 'not-started') {
      stop(); // What is left of the group ends too.
      const until = steadyNow() + grace + POLL_INTERVAL_MS;
      while (send(0) && steadyNow() < until) await sleep(POLL_INTERVAL_MS);
      await Promise.race([closed, sleep(LAST_OUTPUT_TIMEOUT_MS, undefined, { ref: false })]);
      child.stdout?.destroy();
      child.stderr?.destroy();
    }
    clearTimeout(force);
    return timedOut ?? ending;
  };
  return { ending: end(), send, stop };
}

function waitForEnd(child: ChildProcess): Promise<ChildEnding> {
  return new Promise((resolve) => {
    child.once('error', (error) => {
      // With a pid, the error means that a signal could not be sent.
      if (child.pid === undefined) resolve({ kind: 'not-started', code: errorCode(error) });
    });
    child.once('exit', (code, signal) => {
      resolve(
        signal === null ? { kind: 'exited', code: code ?? 1 } : { kind: 'signalled', signal },
      );
    });
  });
}

/** How long a server waits for requests that the command left unfinished. */
const LAST_REPLIES_TIMEOUT_MS = 1000;

export interface FinishedRun {
  readonly ending: ChildEnding & { readonly exitCode: number };
  readonly seconds: number;
  readonly server: RunningServer;
  readonly scenarios: readonly Scenario[];
}

export class Runner {
  readonly settings: ServeSettings;
  readonly signals: Signals;
  readonly #words: readonly string[];
  readonly #own: Flags['env'];
  readonly #running = new Set<RunningChild>();
  #files: Promise<LoadedFiles | undefined> | undefined;

  constructor(
    words: readonly string[],
    flags: Flags,
    pass: (signal: PassedSignal, command: RunningChild) => void,
  ) {
    this.#words = words;
    this.#own = flags.env;
    this.settings = { ...serveSettings(flags), port: flags.port ?? 0 };
    this.signals = new Signals(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'], (signal) => {
      for (const command of this.#running) pass(signal, command);
    });
  }

  /**
   * @param onStart is called before the command runs
   * @returns undefined if a signal came before the command could start
   */
  async run(
    settings: RunSettings,
    options: Omit<ChildOptions, 'environment'>,
    onStart?: (server: RunningServer) => void,
  ): Promise<FinishedRun | undefined> {
    // Loaded once: a pipe can be read only once.
    this.#files ??= Promise.race([load(this.settings), this.signals.first]);
    const files = await this.#files;
    if (files === undefined) return undefined;
    const own = { ...this.settings, ...settings };
    const server = await Promise.race([start(own, files), this.signals.first]);
    if (server === undefined || this.signals.exitCode !== undefined) return undefined;
    const environment = describeServer(server, own, files.scenarios, process.env, this.#own);
    onStart?.(server);
    const startedAt = steadyNow();
    const command = runChild(this.#words, { ...options, environment });
    this.#running.add(command);
    const end = await command.ending;
    this.#running.delete(command);
    const ending = { ...end, exitCode: describeEnding(end).exitCode };
    const seconds = roundDuration((steadyNow() - startedAt) / 1000);
    await Promise.race([server.close(), sleep(LAST_REPLIES_TIMEOUT_MS)]);
    return { ending, seconds, server, scenarios: files.scenarios };
  }
}

/** The certificate of the server goes into a file, for the command to trust. */
function describeServer(...server: Parameters<typeof childEnvironment>) {
  try {
    return childEnvironment(...server);
  } catch (cause) {
    throw new Failure(asError(cause).message, { cause });
  }
}

export function childEnvironment(
  server: ServerAccess,
  { keys = {}, noControl }: Pick<ServerOptions, 'keys' | 'noControl'>,
  scenarios: readonly Pick<Scenario, 'keys'>[],
  inherited: Readonly<Record<string, string | undefined>>,
  own: Flags['env'] = [],
): Record<string, string | undefined> {
  const lists = scenarios.reduce<KeyLists>((earlier, later) => override(earlier, later.keys), keys);
  // If scenarios refuse every key, the command still gets the one it would otherwise get.
  const key = findWorkingKey(lists) ?? lists.valid?.[0] ?? DEMO_KEY;
  const variables = mockVariables(server, key, inherited, noControl);
  const named = own.map(({ name, value }) => [name, variables[RUN_VALUES[value]]]);
  const proxy = bypassProxy(inherited, hostName(new URL(server.url)));
  return { ...inherited, ...proxy, ...variables, ...Object.fromEntries(named) };
}

const LOOPBACK = ['localhost', '127.0.0.1', '::1'];

/**
 * Where a proxy is set, keeps it from calls to this machine, which it would send elsewhere. Programs
 * disagree on which of the two variables wins, so each keeps its own list.
 */
function bypassProxy(inherited: Readonly<Record<string, string | undefined>>, host: string) {
  const names = Object.keys(inherited).filter((name) => /^(?:https?|all)_proxy$/i.test(name));
  if (!names.some((name) => inherited[name])) return {};
  const { no_proxy: lower, NO_PROXY: upper } = inherited;
  const extend = (list = '') =>
    list === '*' ? list : [...new Set([list, ...LOOPBACK, host])].filter(Boolean).join(',');
  return { NO_PROXY: extend(upper || lower), no_proxy: extend(lower || upper) };
}
