import { isLoopbackName } from '../../contract/base-url.ts';
import { curlCommand, shellWord } from '../../curl.ts';
import { parseAddress } from '../../http/target.ts';
import { workingKey } from '../../library/mock-variables.ts';
import type { KeyLists } from '../../service/keyring.ts';
import { type Command, UsageError } from '../command.ts';
import type { Flags } from '../flags.ts';
import { openLog, renderNotice } from '../log.ts';
import { Signals, serveSettings, start } from '../start-server.ts';
import { bold, escaped, type Style, type Terminal } from '../terminal.ts';

/** What the banner shows of a server. */
export interface BannerContent {
  /** The service's base URL. */
  readonly url: string;
  readonly keys: KeyLists;
  /** Names or paths. */
  readonly scenarios: readonly string[];
  /** Defined under HTTPS, with the file that has the certificate if one was written. */
  readonly trust: { readonly file: string | undefined } | undefined;
  /** Undefined if it is off. The token is defined only if it was generated. */
  readonly control: { readonly token: string | undefined } | undefined;
}

/** Next steps for a person who has just started a server. */
export function renderBanner(content: BannerContent, style: Style): string {
  const { url, keys, scenarios, control, trust } = content;
  const key = workingKey(keys);
  const { root } = parseAddress(url);
  const lines: [string, string][] = [];
  if (key !== undefined) {
    const headers = [['Authorization', `Bearer ${key}`]] as const;
    const request = { method: 'GET', url: `${url}/pets?limit=3`, headers };
    lines.push(['Try it', curlCommand(request, trustFlags(trust))]);
  }
  if (trust !== undefined) {
    lines.push(['Trust it', trust.file ?? `${root}/__mock/certificate.pem`]);
  }
  if (scenarios.length > 0) lines.push(['Scenarios', scenarios.join(', ')]);
  if (control !== undefined) {
    lines.push(['Dashboard', `${root}/__mock/`]);
    if (control.token !== undefined) lines.push(['Control token', control.token]);
  }
  lines.push(
    ['List its assumptions', 'petstore-mock assumptions'],
    ['List the scenarios', 'petstore-mock scenarios'],
    ['Stop it', 'Ctrl-C'],
  );
  return `\n${lines.map(([what, how]) => `  ${bold(what, style)}: ${escaped(how)}\n`).join('')}\n`;
}

/** The flags that make curl accept the certificate. */
function trustFlags(trust: BannerContent['trust']): string[] {
  if (trust === undefined) return [];
  return trust.file === undefined ? ['--insecure'] : ['--cacert', shellWord(trust.file)];
}

/** Runs a server until a signal stops it. */
export const serve: Command = async ({ flags, terminal }) => {
  const settings = serveSettings(flags);
  refuseItself(flags, settings.port);
  await askToForward(flags, terminal);
  // Before the start, which can be slow: process 1 of a container ignores signals that it does not
  // handle.
  const signals = new Signals(['SIGTERM', 'SIGINT']);
  const format = flags.log ?? (terminal.interactive ? 'pretty' : 'json');
  const log = openLog(terminal, format);
  const notify = (text: string) => {
    terminal.notices.write(renderNotice(text, format));
  };
  const onReload = (problem: Error | undefined) => notify(reloadNotice(problem));
  const starting = start({ ...settings, ...log, onReload, onNotice: notify });
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
    notify(`the control API requires the token ${token} (--control-token sets one)`);
  }
  await signals.first;
  log?.flush();
  const closed = server.close().then(() => 0);
  const exitCode = await Promise.race([closed, signals.second.then(() => signals.exitCode ?? 0)]);
  log?.flush();
  if (flags.coverage === undefined) return { exitCode };
  const { writeCoverageFiles } = await import('../write-files.ts');
  const problems = writeCoverageFiles(flags, server);
  problems.forEach(notify);
  return { exitCode: exitCode === 0 && problems.length > 0 ? 1 : exitCode };
};

/** A server in front of itself would pass each request on until it runs out of connections. */
function refuseItself({ upstream }: Flags, port: number): void {
  if (upstream?.port !== String(port) || !isLoopbackName(upstream.hostname)) return;
  throw new UsageError(`--upstream points at this server: ${upstream}`);
}

/** Asks before clients' requests go to another machine. */
export async function askToForward({ upstream, yes }: Flags, terminal: Terminal): Promise<void> {
  if (upstream === undefined) return;
  const { askConsent } = await import('../connection.ts');
  await askConsent(upstream, "every request of this server's clients", yes, terminal);
}

/** The notice after a watched file changed. */
export function reloadNotice(problem: Error | undefined): string {
  return problem === undefined
    ? 'a file changed; all sandboxes were restarted'
    : `a file changed but cannot be used; no sandbox was restarted\n${problem.message}`;
}
