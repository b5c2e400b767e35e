import { constants } from 'node:os';
import { DEFAULTS } from '../core/limits.ts';
import { ContentError } from '../core/problems.ts';
import { StorageError } from '../core/sandbox/storage-error.ts';
import { ScenarioError } from '../core/scenario/scenario-records.ts';
import { steadyNow } from '../core/service/clock.ts';
import { isRowName } from '../core/tables.ts';
import { asError, errorCode } from '../core/thrown.ts';
import { describe } from '../core/words.ts';
import { FEATURES, type ServerOptions } from '../features.ts';
import { CertificateError } from '../server/http/tls.ts';
import { type LoadedFiles, loadFiles } from '../server/load-files.ts';
import { checkOptions, listOptionNames } from '../server/options.ts';
import { type RunningServer, startServerWith } from '../server/server.ts';
import { Failure, misuse, UsageError } from '../terminal/command.ts';
import { FLAGS, type Flags, spell } from './flags.ts';

/** `startServer` with its errors as the command prints them: a UsageError or a Failure. */
export function start(settings: ServeSettings, files?: LoadedFiles): Promise<RunningServer> {
  const all = { ...settings, proxyVariables: process.env };
  return startServerWith(FEATURES, all, files).catch((error) => throwExplained(error, settings));
}

/** `loadFiles` with its errors as the command prints them. */
export function load(settings: ServeSettings): Promise<LoadedFiles> {
  return loadFiles(settings).catch((error) => throwExplained(error, settings));
}

const NO_FILE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR']);

function throwExplained(cause: unknown, { host, port }: ServeSettings): never {
  if (cause instanceof ContentError) {
    const what = cause instanceof ScenarioError ? 'a scenario' : 'the store';
    // Each problem begins with the path of its file.
    throw new UsageError(`${what} cannot be used\n${cause.message}`, { cause });
  }
  if (cause instanceof CertificateError) {
    throw new UsageError(`the certificate cannot be used\n${cause.message}`, { cause });
  }
  if (cause instanceof StorageError) {
    throw NO_FILE.has(errorCode(cause.cause) ?? '')
      ? new UsageError(`--db: ${cause.message}`, { cause })
      : new Failure(cause.message, { cause });
  }
  switch (errorCode(cause)) {
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN': {
      const expected = 'an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all';
      throw misuse('--host', expected, describe(host));
    }
    case 'EADDRINUSE':
      throw new Failure(
        `port ${port} of ${host} is taken: stop the program that listens there, or choose another port with --port (0 picks a free one)`,
        { cause },
      );
    case 'EACCES':
      throw new Failure(
        `no permission to listen on port ${port} of ${host}: choose one above 1023 with --port (0 picks a free one)`,
        { cause },
      );
    default:
      throw cause;
  }
}

export type ServeSettings = ServerOptions & { readonly host: string; readonly port: number };

export function serveSettings(flags: Flags): ServeSettings {
  const { host = DEFAULTS.host, port = DEFAULTS.port } = flags;
  const { key: valid, readOnlyKey: readOnly, invalidKey: invalid, anyKey: any } = flags;
  const named = listOptionNames(FEATURES).map((name) => [name, Reflect.get(flags, name)]);
  const options: object = { ...Object.fromEntries(named), keys: { valid, readOnly, invalid, any } };
  try {
    checkOptions(options, FEATURES, (name) => `--${isRowName(FLAGS, name) ? spell(name) : name}`);
  } catch (cause) {
    throw new UsageError(asError(cause).message, { cause });
  }
  return { ...options, host, port };
}

/** Ctrl-C reaches every process of the terminal, and `npx` then forwards the signal that it got. */
const SAME_REQUEST_MS = 250;

export type PassedSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGQUIT';

/** Handles the signals that ask this process to end, which then no longer end it. */
export class Signals {
  /** These resolve when the first and the second signal come. */
  readonly first: Promise<undefined>;
  readonly second: Promise<undefined>;
  #last: PassedSignal | undefined;

  constructor(signals: readonly PassedSignal[], take: (signal: PassedSignal) => void = () => {}) {
    const waiting: (() => void)[] = [];
    const next = () => new Promise<undefined>((resolve) => waiting.push(() => resolve(undefined)));
    [this.first, this.second] = [next(), next()];
    let lastAt = Number.NEGATIVE_INFINITY;
    for (const signal of signals) {
      process.on(signal, () => {
        const now = steadyNow();
        if (now - lastAt <= SAME_REQUEST_MS) return;
        lastAt = now;
        this.#last = signal;
        take(signal);
        waiting.shift()?.();
      });
    }
  }

  get exitCode(): number | undefined {
    return this.#last && signalExitCode(this.#last);
  }
}

export function signalExitCode(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
