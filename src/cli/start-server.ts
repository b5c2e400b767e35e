import { existsSync, realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { DEFAULTS } from '../defaults.ts';
import { codeOf } from '../error-code.ts';
import { CertificateError } from '../http/tls/certificate.ts';
import { ContentError } from '../read-text.ts';
import { KeeperError } from '../sandbox/keeper.ts';
import { ScenarioError } from '../scenario/sandbox-start.ts';
import {
  type LoadedFiles,
  loadFiles,
  type RunningServer,
  type ServerOptions,
  startServer,
} from '../server.ts';
import { describe } from '../words.ts';
import { Failure, refusal, type Settings, UsageError } from './command.ts';

/**
 * Starts a server.
 *
 * @param files what was loaded already
 * @throws UsageError, Failure with what to do about it
 */
export function start(
  settings: ServeSettings,
  given: Settings,
  files?: LoadedFiles,
): Promise<RunningServer> {
  return startServer({ ...settings, proxyVariables: process.env }, files).catch((error) => {
    throw explained(error, settings, given);
  });
}

/**
 * Loads the files that `start` starts from.
 *
 * @throws UsageError with what to do about it
 */
export function load(settings: ServeSettings, given: Settings): Promise<LoadedFiles> {
  return loadFiles(settings).catch((error) => {
    throw explained(error, settings, given);
  });
}

/** Node's error codes for a host that it cannot listen on. */
const NO_ADDRESS: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN']);

/** Node's error codes for a path that no file can have. */
const NO_FILE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR']);

/** An error of the start, with what to do about it. */
function explained(cause: unknown, settings: ServeSettings, given: Settings): unknown {
  const { host, port } = settings;
  if (cause instanceof ContentError) {
    return new UsageError(`${filesOf(cause, settings, given)} cannot be used\n${cause.message}`, {
      cause,
    });
  }
  if (cause instanceof CertificateError) {
    return new UsageError(`the certificate cannot be used\n${cause.message}`, { cause });
  }
  if (cause instanceof KeeperError) {
    return NO_FILE.has(codeOf(cause.cause) ?? '')
      ? new UsageError(`${given.originOf('db')}: ${cause.message}`, { cause })
      : new Failure(cause.message, { cause });
  }
  const code = codeOf(cause) ?? '';
  if (NO_ADDRESS.has(code)) {
    const expected = 'an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all';
    return refusal(given.originOf('host'), expected, describe(host));
  }
  if (code === 'EADDRINUSE') {
    const why = `port ${port} of ${host} is taken: stop the program that listens there, or choose another port with --port (0 picks a free one)`;
    return new Failure(why, { cause });
  }
  if (code === 'EACCES') {
    const why = `no permission to listen on port ${port} of ${host}: choose one above 1023 with --port (0 picks a free one)`;
    return new Failure(why, { cause });
  }
  return cause;
}

/** Names the files that an error is about. Each of its problems begins with the path. */
function filesOf(error: ContentError, { db, fixture }: ServeSettings, given: Settings): string {
  if (error instanceof ScenarioError) return `the scenarios of ${given.originOf('scenarios')}`;
  const isAbout = (file: string) => error.problems.some((it) => it.startsWith(`${file}:`));
  // Problems name the target of a link, since the server writes that file.
  if (db !== undefined && isAbout(existsSync(db) ? realpathSync(db) : db)) {
    return `the file of ${given.originOf('db')}`;
  }
  const isGiven = fixture !== undefined && isAbout(fixture);
  return isGiven ? `the fixture of ${given.originOf('fixture')}` : 'the fixture of a scenario';
}

/** The options of a server, with the address that messages name. */
export interface ServeSettings extends ServerOptions {
  readonly host: string;
  readonly port: number;
}

/**
 * The options of a server. A flag with the name of an option is that option.
 *
 * @throws UsageError for flags that exclude each other
 */
export function serveSettings({ flags, originOf, checked }: Settings): ServeSettings {
  const generated = (['animals', 'orders'] as const).find((name) => flags[name] !== undefined);
  if (flags.fixture !== undefined && generated !== undefined) {
    const [count, fixture] = [originOf(generated), originOf('fixture')];
    throw new UsageError(
      `${count} generates a store and ${fixture} names one: drop ${count} to start from the fixture, or ${fixture} to generate`,
    );
  }
  const alone = (['db', 'watch'] as const).find((name) => flags[name] !== undefined);
  if (flags.shared !== undefined && alone !== undefined) {
    const [shared, other] = [originOf('shared'), originOf(alone)];
    throw new UsageError(
      `${other} is for a single server and ${shared} for several: drop one of them`,
    );
  }
  return {
    ...flags,
    checked,
    host: flags.host ?? DEFAULTS.host,
    port: flags.port ?? DEFAULTS.port,
    keys: {
      valid: flags.key,
      readOnly: flags.readOnlyKey,
      invalid: flags.invalidKey,
      any: flags.anyKey,
    },
  };
}

/**
 * Milliseconds in which further signals count as the same request. Ctrl-C reaches every process of
 * the terminal, and `npx` and `npm run` then forward the signal that they got.
 */
const SAME_REQUEST = 250;

export type PassedSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGQUIT';

/** Handles the signals that ask this process to end, which then no longer end it. */
export class Signals {
  /** Resolve when the first and the second signal come. */
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
        const now = performance.now();
        if (now - lastAt <= SAME_REQUEST) return;
        lastAt = now;
        this.#last = signal;
        take(signal);
        waiting.shift()?.();
      });
    }
  }

  /** The exit code for the last signal; undefined if none came. */
  get exitCode(): number | undefined {
    return this.#last && signalExitCode(this.#last);
  }
}

/** The exit status of a process that a signal ended. */
export function signalExitCode(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
