import { beforeStart } from '../../features.ts';
import { packageVersion } from '../../server/files.ts';
import { misuse, readTextFile } from '../../terminal/command.ts';
import { writeHar } from '../../terminal/har.ts';
import { formatNotice } from '../../terminal/terminal.ts';
import { CallTracker } from '../call-tracker.ts';
import { describeEnding, type FinishedRun, Runner } from '../child.ts';
import { ExchangeRecorder } from '../exchange-recorder.ts';
import type { Flags, ProgramCommand } from '../flags.ts';
import { openLog, renderNotice } from '../log.ts';
import { concludeRun } from '../run-evidence.ts';
import { compareTranscripts, readCallParts, writeTranscript } from '../transcript.ts';
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
  const notify = (text: string) => {
    notices.write(renderNotice(text, 'pretty'));
  };
  const earlier = await readEarlierCalls(flags);
  const tracker = new CallTracker();
  const recorder = new ExchangeRecorder();
  const isRecorded = [flags.har, flags.calls, earlier.calls].some((it) => it !== undefined);
  const isShown = flags.coverage?.some((file) => file.endsWith('.html'));
  const run = await runner.run(
    {
      ...log?.hooks,
      onNotice: notify,
      onReload: (problem) => notify(reloadNotice(problem)),
    },
    { ownGroup: !onTerminal(), timeout: flags.timeout },
    ({ sandboxes }) =>
      sandboxes.events.add(({ kind, sandbox, exchange }) => {
        if (kind === 'hold') {
          recorder.endHold(sandbox.name, exchange);
          return;
        }
        tracker.add(exchange);
        if (isRecorded || isShown) recorder.record(sandbox.name, exchange);
      }),
  );
  log?.flush();
  if (run === undefined) return { exitCode: runner.signals.exitCode ?? 1 };
  const { ending } = run;
  if (ending.kind !== 'exited')
    notices.write(formatNotice(`${words[0]} ${describeEnding(ending).text}`));
  if (ending.kind === 'not-started') return { exitCode: ending.exitCode };
  const concluded = await concludeRun({ ...terminal, style }, flags, {
    ...compareRun(flags, run, recorder, earlier),
    title: words.join(' '),
    tracker,
    wasCalled: tracker.calls > 0,
    isGated: ending.exitCode === 0,
    interrupted: runner.signals.second,
  });
  return { exitCode: ending.exitCode || concluded };
};

const CUT = 'the command made too many calls to compare: memory does not hold them';

function compareRun(
  { har, calls, callsAgainst: file = '' }: Flags,
  { server }: FinishedRun,
  recorder: ExchangeRecorder,
  earlier: EarlierCalls,
) {
  const exchanges = recorder.newest();
  const isCompared = calls !== undefined || earlier.calls !== undefined;
  const sent = isCompared ? writeTranscript(recorder.list(), earlier.parts) : '';
  const difference =
    earlier.calls === undefined ? undefined : compareTranscripts(earlier.calls, sent);
  const files: [string, string][] = [];
  if (har !== undefined) {
    const { origin } = new URL(server.url);
    files.push([har, [...writeHar(packageVersion(), origin, exchanges)].join('')]);
  }
  if (calls !== undefined) files.push([calls, sent]);
  return {
    evidence: { coverage: server.coverage(), findings: server.findings(), exchanges },
    files,
    problems: isCompared && recorder.isCut ? [CUT] : [],
    difference: difference && { ...difference, file },
  };
}

interface EarlierCalls {
  readonly parts: Flags['callsParts'];
  readonly calls?: string;
}

/** Reads the file of `--against` before the command runs: `--calls` may write the same file. */
async function readEarlierCalls({ callsAgainst: file, callsParts }: Flags): Promise<EarlierCalls> {
  if (file === undefined) return { parts: callsParts };
  const expected = 'what --calls has written';
  const text = await readTextFile(file, '--against', expected);
  // Git on Windows checks files out with CRLF.
  const calls = text.replaceAll('\r\n', '\n');
  const parts = readCallParts(calls);
  if (parts === undefined) throw misuse('--against', expected, `something else in ${file}`);
  return { parts: callsParts ?? parts, calls };
}

/** Whether Ctrl-C reaches the command directly, as it reaches the whole foreground group. */
function onTerminal(): boolean {
  return [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
}
