import type { ServerAccess } from '../../client/mock-variables.ts';
import { formatControlUrl, parseAddress } from '../../core/contract/target.ts';
import { curlCommand, shellWord } from '../../core/curl.ts';
import { findWorkingKey } from '../../core/service/keyring.ts';
import { beforeStart, type ServerOptions } from '../../features.ts';
import { bold, escapeControls, type Style, writeInBackground } from '../../terminal/terminal.ts';
import type { ProgramCommand } from '../flags.ts';
import { openLog, renderNotice } from '../log.ts';
import { Signals, serveSettings, start } from '../start-server.ts';

export function renderBanner(
  { url, certificate, controlToken }: ServerAccess,
  { keys = {}, scenarios = [], tlsWrite, noControl, controlToken: given }: ServerOptions,
  style: Style,
): string {
  const key = findWorkingKey(keys);
  const control = formatControlUrl(parseAddress(url));
  const trusting = tlsWrite === undefined ? ['--insecure'] : ['--cacert', shellWord(tlsWrite)];
  const headers = [['Authorization', `Bearer ${key}`]] as const;
  const request = { method: 'GET', url: `${url}/pets?limit=3`, headers };
  const lines: [what: string, isShown: boolean, how: string][] = [
    ['Try it', key !== undefined, curlCommand(request, certificate ? trusting : [])],
    ['Trust it', certificate !== undefined, tlsWrite ?? `${control}/certificate.pem`],
    ['Scenarios', scenarios.length > 0, scenarios.join(', ')],
    ['Dashboard', !noControl, `${control}/`],
    // A token that was given is not printed.
    ['Control token', !noControl && given === undefined, controlToken ?? ''],
    ['List its assumptions', true, 'petstore-mock assumptions'],
    ['List the scenarios', true, 'petstore-mock scenarios'],
    ['Stop it', true, 'Ctrl-C'],
  ];
  const rows = lines.filter(([, isShown, how]) => isShown && how !== '');
  return `\n${rows.map(([what, , how]) => `  ${bold(what, style)}: ${escapeControls(how)}\n`).join('')}\n`;
}

export const serve: ProgramCommand = async ({ flags, terminal }) => {
  const settings = serveSettings(flags);
  await beforeStart({ ...flags, port: settings.port }, terminal);
  // Signals come first: process 1 of a container ignores those that it does not handle.
  const signals = new Signals(['SIGTERM', 'SIGINT']);
  const format = flags.log ?? (terminal.interactive ? 'pretty' : 'json');
  const log = openLog(terminal, format);
  writeInBackground(terminal.notices);
  const notify = (text: string) => {
    terminal.notices.write(renderNotice(text, format));
  };
  if (format === 'json' && process.listenerCount('warning') > 0) {
    // Node's own listener writes plain lines.
    process.removeAllListeners('warning');
    process.on('warning', ({ stack, message }) => notify(stack ?? message));
  }
  const onReload = (problem: Error | undefined) => notify(reloadNotice(problem));
  const starting = start({ ...settings, ...log?.hooks, onReload, onNotice: notify });
  const server = await Promise.race([starting, signals.first]);
  // The start may still be waiting for a lock or for Redis.
  if (server === undefined) return { exitCode: 0 };
  terminal.output.write(`petstore-mock ready ${server.url}\n`);
  const { controlToken: token } = server;
  if (terminal.interactive && format !== 'json') {
    terminal.output.write(renderBanner(server, settings, terminal.style));
  } else if (token !== undefined && flags.controlToken === undefined && !flags.noControl) {
    notify(`the control API requires the token ${token} (--control-token sets one)`);
  }
  await signals.first;
  log?.flush();
  const closed = server.close().then(() => 0);
  const exitCode = await Promise.race([closed, signals.second.then(() => signals.exitCode ?? 0)]);
  log?.flush();
  if (flags.coverage === undefined) return { exitCode };
  const { writeReports } = await import('../run-evidence.ts');
  const evidence = { coverage: server.coverage(), findings: server.findings() };
  const writing = writeReports(flags, evidence);
  const problems = (await Promise.race([writing, signals.second])) ?? [];
  problems.forEach(notify);
  return { exitCode: exitCode === 0 && problems.length > 0 ? 1 : exitCode };
};

export function reloadNotice(problem: Error | undefined): string {
  return problem === undefined
    ? 'a file changed; all sandboxes were restarted'
    : `a file changed but cannot be used; no sandbox was restarted\n${problem.message}`;
}
