import { setTimeout as sleep } from 'node:timers/promises';
import { mockVariables, type ServerToTell, workingKey } from '../../library/mock-variables.ts';
import type { Scenario } from '../../scenario/read-scenario.ts';
import { over } from '../../scenario/sandbox-start.ts';
import type { LoadedFiles, RunningServer, ServerOptions } from '../../server.ts';
import type { KeyLists } from '../../service/keyring.ts';
import type { CommandName } from '../command-table.ts';
import { UsageError } from '../failures.ts';
import type { Settings } from '../input/given.ts';
import { type ServeSettings, serveSettings } from '../input/settings.ts';
import { load, start } from '../start-server.ts';
import { type CommandOptions, type RunningCommand, runCommand } from './child.ts';
import type { Ending } from './ending.ts';
import { type PassedSignal, Signals } from './signals.ts';

/** Milliseconds that a server waits for requests that the command left unfinished. */
const LAST_REPLIES = 1000;

/** A finished run of a command. Its server is closed. */
export interface FinishedRun {
  readonly ending: Ending;
  readonly seconds: number;
  readonly server: RunningServer;
}

/** Runs a command beside a new server each time, until a signal comes. */
export class Runner {
  readonly settings: ServeSettings;
  readonly signals: Signals;
  readonly #words: readonly string[];
  readonly #given: Settings;
  readonly #running = new Set<RunningCommand>();
  #files: Promise<LoadedFiles | undefined> | undefined;

  /**
   * @param pass passes a signal on to a running command
   * @throws UsageError if there is no command to run
   */
  constructor(
    runner: CommandName,
    words: readonly string[],
    given: Settings,
    pass: (signal: PassedSignal, command: RunningCommand) => void,
  ) {
    if (!words[0]) {
      throw new UsageError(
        `${runner} needs -- and a command, as in petstore-mock ${runner} -- npm test`,
      );
    }
    this.#words = words;
    this.#given = given;
    this.settings = { ...serveSettings(given), port: given.flags.port ?? 0 };
    this.signals = new Signals(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'], (signal) => {
      for (const command of this.#running) pass(signal, command);
    });
  }

  /** What each server starts from; undefined if a signal came first. Loading can wait for a pipe. */
  files(): Promise<LoadedFiles | undefined> {
    this.#files ??= Promise.race([load(this.settings, this.#given), this.signals.first]);
    return this.#files;
  }

  /** @returns undefined if a signal came before the command could start */
  async run(
    settings: Omit<ServerOptions, 'host' | 'port'>,
    options: Omit<CommandOptions, 'environment'>,
  ): Promise<FinishedRun | undefined> {
    const files = await this.files();
    if (files === undefined) return undefined;
    const own = { ...this.settings, ...settings };
    const server = await Promise.race([start(own, this.#given, files), this.signals.first]);
    if (server === undefined || this.signals.exitCode !== undefined) return undefined;
    const environment = commandEnvironment(server, own, files.scenarios, process.env);
    const startedAt = performance.now();
    const command = runCommand(this.#words, { ...options, environment });
    this.#running.add(command);
    const ending = await command.ending;
    this.#running.delete(command);
    const seconds = (performance.now() - startedAt) / 1000;
    await Promise.race([server.close(), sleep(LAST_REPLIES)]);
    return { ending, seconds, server };
  }
}

/** The environment of a command: ours, plus how to reach the server. */
export function commandEnvironment(
  server: ServerToTell,
  { keys = {}, noControl }: Pick<ServerOptions, 'keys' | 'noControl'>,
  scenarios: readonly Pick<Scenario, 'keys'>[],
  inherited: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const lists = scenarios.reduce<KeyLists>((earlier, it) => over(earlier, it.keys), keys);
  // If scenarios refuse every key, the command still gets the one it would otherwise get.
  const key = workingKey(lists) ?? lists.valid?.[0] ?? 'demo-key';
  return { ...inherited, ...mockVariables(server, key, inherited, noControl) };
}
