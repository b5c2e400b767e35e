import type { RunningServer } from '../../server.ts';
import { stopSignals } from '../child/signals.ts';
import { givenAs, type Layers } from '../input/given.ts';
import { type ServeSettings, serveSettings } from '../input/settings.ts';
import { renderBanner } from '../output/banner.ts';
import type { CoverageFiles } from '../output/coverage-files.ts';
import { escapedLines } from '../output/escaped.ts';
import { openLog } from '../output/log-output.ts';
import type { Terminal } from '../output/terminal.ts';
import { start } from '../start-server.ts';
import type { Command } from './command.ts';

/** Runs a server until a signal stops it. */
export const serve: Command = async ({ layers, terminal }) => {
  const settings = serveSettings(layers);
  const coverage = await coverageOf(layers);
  // From here on, so that one that comes while a large fixture loads is not lost: in a container
  // this may be process 1, which no signal ends by itself.
  const signals = stopSignals();
  const log = openLog(terminal, settings.log);
  const onReload = (problem: Error | undefined) => {
    terminal.notices.write(tellReload(problem));
  };
  const onNotice = (message: string) => {
    terminal.notices.write(`petstore-mock: ${message}\n`);
  };
  const starting = start({ ...settings, observe: log?.observe, onReload, onNotice }, layers);
  const server = await Promise.race([starting, signals.first]);
  // A start can wait for a pipe or another server's lock. Leaving ends it.
  if (server === undefined) return 0;
  terminal.output.write(`petstore-mock ready ${server.url}\n`);
  welcome(server, settings, terminal);
  await signals.first;
  const exitCode = await Promise.race([server.close().then(() => 0), signals.second]);
  log?.flush();
  const written = coverage?.write(server, terminal.notices) ?? 0;
  return exitCode === 0 ? written : exitCode;
};

/** Loaded only where coverage is to be written. */
async function coverageOf(layers: Layers): Promise<CoverageFiles | undefined> {
  if (givenAs(layers, 'coverage') === undefined) return undefined;
  const { CoverageFiles: Files } = await import('../output/coverage-files.ts');
  return new Files(layers);
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

/** What is told when a watched file has changed. */
export function tellReload(problem: Error | undefined): string {
  return problem === undefined
    ? 'petstore-mock: a file has changed; every sandbox has started anew\n'
    : `petstore-mock: a file has changed and cannot be used; every sandbox stays as it is\n${escapedLines(problem.message)}\n`;
}
