import { existsSync, realpathSync } from 'node:fs';
import { type RunningServer, startServer } from '../../server.ts';
import { ScenarioError } from '../../simulation/scenario.ts';
import { FixtureError } from '../../store/fixture.ts';
import { renderBanner } from '../banner.ts';
import { codeOf, Failure, UsageError } from '../errors.ts';
import { givenAs, type Layers } from '../given.ts';
import { type Log, openLog } from '../log-output.ts';
import { type ServeSettings, serveSettings } from '../settings.ts';
import { stopSignals } from '../stop-signals.ts';
import type { Terminal } from '../terminal.ts';
import type { Command } from './command.ts';

/** Runs a server until a signal stops it. */
export const serve: Command = async ({ layers, terminal }) => {
  const settings = serveSettings(layers);
  // From here on, so that one that comes while a large fixture loads is not lost: in a container
  // this may be process 1, which no signal ends by itself.
  const signals = stopSignals();
  const log = openLog(terminal, settings.log);
  const server = await start(settings, layers, terminal, log);
  terminal.output.write(`petstore-mock ready ${server.url}\n`);
  welcome(server, settings, terminal);
  await signals.first;
  const exitCode = await Promise.race([server.close().then(() => 0), signals.second]);
  log?.flush();
  return exitCode;
};

async function start(
  settings: ServeSettings,
  layers: Layers,
  { notices }: Terminal,
  log: Log | undefined,
): Promise<RunningServer> {
  const onReload = (problem: Error | undefined) => void notices.write(tellReload(problem));
  const options = { ...settings, observe: log?.observe, onReload };
  try {
    return await startServer(options);
  } catch (error) {
    throw await explained(error, settings, layers);
  }
}

/** What a person wants to know. A token that was drawn is told also where no person reads along. */
function welcome(server: RunningServer, settings: ServeSettings, terminal: Terminal): void {
  const { keys = {}, scenarios = [], noControl = false, controlToken } = settings;
  const token = controlToken === undefined ? server.controlToken : undefined;
  if (terminal.interactive) {
    const control = noControl ? undefined : { token };
    const started = { url: server.url, keys, scenarios, control };
    terminal.output.write(renderBanner(started, terminal.style));
  } else if (token !== undefined && !noControl) {
    terminal.notices.write(
      `petstore-mock: the control API asks for the token ${token} (--control-token chooses one)\n`,
    );
  }
}

function tellReload(problem: Error | undefined): string {
  return problem === undefined
    ? 'petstore-mock: a file has changed; every sandbox has started anew\n'
    : `petstore-mock: a file has changed and cannot be used; every sandbox stays as it is\n${problem.message}\n`;
}

/** The error that tells whoever started the server what to do about another. */
async function explained(error: unknown, settings: ServeSettings, layers: Layers): Promise<Error> {
  if (error instanceof ScenarioError) {
    const origin = givenAs(layers, 'scenario')?.origin ?? 'the package';
    return new UsageError(`the scenarios of ${origin} cannot be used\n${error.message}`, {
      cause: error,
    });
  }
  if (error instanceof FixtureError) {
    const file = brokenFile(error, settings, layers);
    return new UsageError(`${file} cannot be used\n${error.message}`, { cause: error });
  }
  const { StoreFileError } = await import('../../store/file.ts');
  const why = error instanceof StoreFileError ? error.message : whyNot(settings, error);
  return new Failure(why, { cause: error });
}

/** Which of the files with records an error is about: each of its problems begins with the path. */
function brokenFile({ problems }: FixtureError, settings: ServeSettings, layers: Layers): string {
  const { db, fixture } = settings;
  const isAbout = (file: string | undefined) =>
    file !== undefined && problems.some((problem) => problem.startsWith(`${file}:`));
  // Told by the path that links lead to, as it is what is written.
  const kept = db !== undefined && existsSync(db) ? realpathSync(db) : db;
  if (isAbout(kept)) return `the file of ${givenAs(layers, 'db')?.origin ?? 'the store'}`;
  if (!isAbout(fixture)) return 'the fixture of a scenario';
  return `the fixture of ${givenAs(layers, 'fixture')?.origin ?? 'the package'}`;
}

function whyNot({ host, port }: ServeSettings, error: unknown): string {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return `port ${port} of ${host} is taken: stop what listens there, or choose another with --port (0 takes any free one)`;
    case 'EACCES':
      return `port ${port} of ${host} is not open to you: choose one above 1023 with --port (0 takes any free one)`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${host} is no address of this machine: choose another with --host (127.0.0.1, or 0.0.0.0 for every one)`;
    default:
      throw error;
  }
}
