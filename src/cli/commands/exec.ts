import type { RecordedExchange } from '../../core/control/journal/exchange-text.ts';
import { beforeStart } from '../../features.ts';
import { EXIT_GATE_FAILED, readTextFile, refusal } from '../../terminal/command.ts';
import { formatNotice, indent } from '../../terminal/terminal.ts';
import { describeEnding, Runner } from '../child.ts';
import type { ProgramCommand } from '../command.ts';
import { ExchangeRecorder, writeHar } from '../exchange-recorder.ts';
import type { Flags } from '../flags.ts';
import type { FileNote } from '../github.ts';
import { openLog, renderNotice } from '../log.ts';
import {
  AssumptionTracker,
  concludeRun,
  describeRun,
  gateFailures,
  NO_CALLS,
  printFacts,
  writeReports,
} from '../run-evidence.ts';
import { compareTranscripts, readCallParts, Transcript } from '../transcript.ts';
import { reloadNotice } from './serve.ts';

export const exec: ProgramCommand = async ({ flags, positionals: words, terminal }) => {
  const runner = new Runner(words, flags, (signal, command) => {
    if (signal === 'SIGTERM') command.stop();
    // The command got Ctrl-C from the terminal already.
    else if (signal === 'SIGHUP' || !onTerminal()) command.send(signal);
  });
  await beforeStart({ ...flags, port: flags.port ?? 0 }, terminal);
  const { notices } = terminal;
  const isScreen = 'isTTY' in notices && notices.isTTY === true;
  const style = { ...terminal.style, colour: terminal.style.colour && isScreen };
  const log = openLog({ output: notices, style }, flags.log ?? 'off');
  const tracker = new AssumptionTracker();
  const notify = (text: string) => {
    notices.write(renderNotice(text, 'pretty'));
  };
  const observe = (sandbox: string, exchange: RecordedExchange) => {
    tracker.observe(sandbox, exchange);
    log?.hooks.observe?.(sandbox, exchange);
  };
  const shows = flags.coverage?.some((file) => file.endsWith('.html'));
  const recorder = flags.har !== undefined || shows ? new ExchangeRecorder() : undefined;
  const { parts, earlier } = await readEarlierCalls(flags);
  const isCompared = flags.calls !== undefined || earlier !== undefined;
  const transcript = isCompared ? new Transcript(parts) : undefined;
  const run = await runner.run(
    {
      ...log?.hooks,
      observe,
      onNotice: notify,
      onReload: (problem) => notify(reloadNotice(problem)),
    },
    { ownGroup: !onTerminal(), timeout: flags.timeout },
    ({ sandboxes }) =>
      sandboxes.events.add(({ kind, sandbox, exchange }) => {
        // An exchange whose held reply leaves was recorded before.
        if (kind !== 'exchange') return;
        recorder?.record(sandbox.name, exchange);
        transcript?.add(sandbox.name, exchange);
      }),
  );
  log?.flush();
  if (run === undefined) return { exitCode: runner.signals.exitCode ?? 1 };
  const { ending, server } = run;
  const exchanges = recorder?.list();
  const report = { coverage: server.coverage(), findings: server.findings(), exchanges };
  if (ending.kind !== 'exited')
    notices.write(formatNotice(`${words[0]} ${describeEnding(ending).text}`));
  const facts = ending.kind === 'not-started' ? [] : describeRun(report, tracker);
  printFacts({ ...terminal, style }, facts);
  const files: [string, string][] = [];
  if (flags.har !== undefined) files.push([flags.har, writeHar(exchanges ?? [], server.url)]);
  const sent = transcript?.write() ?? '';
  if (flags.calls !== undefined) files.push([flags.calls, sent]);
  const writing = writeReports(flags, report, files);
  const problems = (await Promise.race([writing, runner.signals.second])) ?? [];
  const { exitCode } = ending;
  const madeNoCall = tracker.calls === 0 && ending.kind !== 'not-started';
  if (madeNoCall && !flags.allowNoCalls) problems.push(NO_CALLS);
  if (transcript?.isCut) problems.push(CUT);
  const difference = earlier === undefined ? undefined : compareTranscripts(earlier, sent);
  const reasons = exitCode === 0 ? gateFailures(flags, report) : [];
  const notes: FileNote[] = [];
  if (exitCode === 0 && difference !== undefined) {
    const { line, lines, summary: differs } = difference;
    const shown = indent(lines);
    notes.push({ file: flags.callsAgainst ?? '', line, message: `${differs}\n${shown}` });
    reasons.push(`--against: the calls differ from ${flags.callsAgainst}: ${differs}`);
    notices.write(shown);
  }
  await concludeRun(terminal, { title: words.join(' '), facts, problems, reasons, notes });
  if (reasons.length > 0) return { exitCode: EXIT_GATE_FAILED };
  return { exitCode: exitCode === 0 && problems.length > 0 ? 1 : exitCode };
};

const CUT = 'the command made too many calls to compare: --calls-parts with fewer parts takes more';

/** What `--against` names, before the command runs. */
async function readEarlierCalls({ callsAgainst: file, callsParts }: Flags) {
  if (file === undefined) return { parts: callsParts };
  const expected = 'what --calls has written';
  const text = await readTextFile(file, '--against', expected);
  // Git on Windows writes other ends of lines.
  const earlier = text.replaceAll('\r\n', '\n');
  const parts = readCallParts(earlier);
  if (parts === undefined) throw refusal('--against', expected, `something else in ${file}`);
  return { parts: callsParts ?? parts, earlier };
}

/** Whether Ctrl-C reaches the command directly, as it reaches the whole foreground group. */
function onTerminal(): boolean {
  return [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
}
