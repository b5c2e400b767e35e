import { isLoopbackName } from '../../control/loopback.ts';
import { Signals } from '../child/signals.ts';
import { UsageError } from '../failures.ts';
import type { Settings } from '../input/given.ts';
import { serveSettings } from '../input/settings.ts';
import { renderBanner } from '../output/banner.ts';
import { renderNotice } from '../output/log.ts';
import { logFormatFor, openLog } from '../output/log-output.ts';
import type { Terminal } from '../output/terminal.ts';
import { start } from '../start-server.ts';
import type { Command } from './command.ts';

/** Runs a server until a signal stops it. */
export const serve: Command = async ({ terminal, ...given }) => {
  const settings = serveSettings(given);
  refuseItself(given, settings.port);
  await askToForward(given, terminal);
  const writeCoverage = await coverageWriter(given);
  // Before the start, which can be slow: process 1 of a container ignores signals that it does not
  // handle.
  const signals = new Signals(['SIGTERM', 'SIGINT']);
  const format = logFormatFor(terminal, given.flags.log);
  const log = openLog(terminal, format);
  const tell = (text: string) => {
    terminal.notices.write(renderNotice(text, format));
  };
  const onReload = (problem: Error | undefined) => tell(tellReload(problem));
  const starting = start({ ...settings, ...log, onReload, onNotice: tell }, given);
  const server = await Promise.race([starting, signals.first]);
  // The start may still be waiting for a pipe or a lock.
  if (server === undefined) return { exitCode: 0 };
  terminal.output.write(`petstore-mock ready ${server.url}\n`);
  const { keys = {}, scenarios = [], noControl, controlToken } = settings;
  // A token that was given is not printed.
  const token = controlToken === undefined ? server.controlToken : undefined;
  if (terminal.interactive && format !== 'json') {
    const { url, certificate } = server;
    const control = noControl ? undefined : { token };
    const trust = certificate === undefined ? undefined : { file: settings.tlsWrite };
    const banner = renderBanner({ url, keys, scenarios, control, trust }, terminal.style);
    terminal.output.write(banner);
  } else if (token !== undefined && !noControl) {
    tell(`the control API requires the token ${token} (--control-token sets one)`);
  }
  await signals.first;
  log?.flush();
  const closed = server.close().then(() => 0);
  const exitCode = await Promise.race([closed, signals.second.then(() => signals.exitCode ?? 0)]);
  log?.flush();
  const problems = writeCoverage?.(server) ?? [];
  problems.forEach(tell);
  return { exitCode: exitCode === 0 && problems.length > 0 ? 1 : exitCode };
};

/** A server in front of itself would pass each request on until it runs out of connections. */
function refuseItself({ flags: { upstream }, originOf }: Settings, port: number): void {
  if (upstream?.port !== String(port) || !isLoopbackName(upstream.hostname)) return;
  throw new UsageError(`${originOf('upstream')} points at this server: ${upstream}`);
}

/** Asks before clients' requests go to another machine. */
export async function askToForward({ flags }: Settings, terminal: Terminal): Promise<void> {
  const { upstream, yes } = flags;
  if (upstream === undefined) return;
  const { askConsent } = await import('../deployment/connection.ts');
  await askConsent(upstream, "every request of this server's clients", yes, terminal);
}

/** Loads the report formats only if coverage is to be written. */
async function coverageWriter(given: Settings) {
  if (given.flags.coverage === undefined) return undefined;
  return (await import('../output/coverage-files.ts')).coverageWriter(given);
}

/** The notice after a watched file changed. */
export function tellReload(problem: Error | undefined): string {
  return problem === undefined
    ? 'a file changed; all sandboxes were restarted'
    : `a file changed but cannot be used; no sandbox was restarted\n${problem.message}`;
}
