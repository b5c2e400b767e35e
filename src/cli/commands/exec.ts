import { setTimeout as sleep } from 'node:timers/promises';
import type { ObservedExchange } from '../../evidence/journal.ts';
import { type RunningCommand, runCommand } from '../child/child.ts';
import { commandEnvironment } from '../child/command-environment.ts';
import { exitCodeOf, signalExitCode, tellEnding } from '../child/ending.ts';
import { requireCommand } from '../child/runner.ts';
import { onSignals, type PassedSignal } from '../child/signals.ts';
import { gatesOf, judge } from '../input/gates.ts';
import { integerOf, type Layers } from '../input/given.ts';
import { type ServeSettings, serveSettings } from '../input/settings.ts';
import { CoverageFiles } from '../output/coverage-files.ts';
import { notice } from '../output/escaped.ts';
import { renderEvidence } from '../output/evidence-table.ts';
import { renderNotice } from '../output/log.ts';
import { openLog } from '../output/log-output.ts';
import { evidenceOf } from '../output/run-evidence.ts';
import { noticesTerminal } from '../output/terminal.ts';
import { load, start } from '../start-server.ts';
import { Touched } from '../sweep/touched.ts';
import type { Command } from './command.ts';
import { tellReload } from './serve.ts';

/** Exit code of a command that succeeded but failed a gate. */
const HELD_BACK = 3;

/** Milliseconds that the server waits for requests that the command left unfinished. */
const LAST_REPLIES = 1000;

/** Runs a command beside a server of its own and reports what the command was shown. */
export const exec: Command = async ({ layers, positionals: words, terminal }) => {
  requireCommand('exec', words);
  const settings = execSettings(layers);
  const gates = gatesOf(layers);
  const coverage = new CoverageFiles(layers);
  const timeout = integerOf(layers, 'timeout');
  const signals = new Passing();
  const { notices, style } = noticesTerminal(terminal);
  const log = openLog({ ...terminal, output: notices, style }, settings.log ?? 'off');
  const touched = new Touched();
  // A start can wait for a pipe. Leaving ends it.
  const files = await Promise.race([load(settings, layers), signals.came]);
  if (files === undefined) return interrupted(signals);
  const observed = {
    ...settings,
    ...log,
    observe: (sandbox: string, exchange: ObservedExchange) => {
      touched.observe(sandbox, exchange);
      log?.observe(sandbox, exchange);
    },
    onReload: (problem: Error | undefined) =>
      notices.write(renderNotice(tellReload(problem), 'pretty')),
    onNotice: (message: string) => notices.write(renderNotice(message, 'pretty')),
  };
  const server = await Promise.race([start(observed, layers, files), signals.came]);
  if (server === undefined) return interrupted(signals);
  const environment = commandEnvironment(server, settings, files.scenarios, process.env);
  const ending = await signals.passTo(() =>
    runCommand(words, { environment, ownGroup: !onTerminal(), timeout }),
  );
  await Promise.race([server.close(), sleep(LAST_REPLIES)]);
  log?.flush();
  if (ending === undefined) return interrupted(signals);
  const evidence = evidenceOf(touched, server.coverage(), server.findings());
  if (ending.kind !== 'exited') {
    notices.write(notice(`${words[0]} ${tellEnding(ending)}`));
  }
  if (ending.kind !== 'not-started') notices.write(renderEvidence(evidence, style));
  const problems = coverage.write(server);
  notices.write(problems.map(notice).join(''));
  const exitCode = exitCodeOf(ending);
  if (exitCode !== 0) return exitCode;
  const reasons = judge(gates, evidence);
  notices.write(reasons.map(notice).join(''));
  if (reasons.length > 0) return HELD_BACK;
  return problems.length > 0 ? 1 : 0;
};

function interrupted({ first = 'SIGTERM' }: Passing): number {
  return signalExitCode(first);
}

/** The settings of `serve`, on a free port by default. */
function execSettings(layers: Layers): ServeSettings {
  const settings = serveSettings(layers);
  return { ...settings, port: integerOf(layers, 'port') ?? 0 };
}

/** Whether the terminal sends Ctrl-C to the command directly, as it does to our whole group. */
function onTerminal(): boolean {
  return [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
}

/** Passes our signals on to a command. */
class Passing {
  /** The first that came. */
  first: PassedSignal | undefined;
  /** Resolves when it comes. */
  readonly came: Promise<undefined>;
  #command: RunningCommand | undefined;

  constructor() {
    this.came = new Promise((resolve) => {
      onSignals((signal) => {
        this.first ??= signal;
        resolve(undefined);
        if (signal === 'SIGTERM') this.#command?.stop();
        // The terminal has sent Ctrl-C to the command too.
        else if (signal === 'SIGHUP' || !onTerminal()) this.#command?.send(signal);
      });
    });
  }

  /** Runs a command, unless a signal came before it could start. */
  async passTo(run: () => RunningCommand): Promise<Awaited<RunningCommand['ending']> | undefined> {
    if (this.first !== undefined) return undefined;
    this.#command = run();
    return this.#command.ending;
  }
}
