import { availableParallelism } from 'node:os';
import {
  ASSUMPTION_IDS,
  type Choices,
  chooseOptions,
  optionNames,
} from '../../contract/assumption-table.ts';
import { describeEnding, type FinishedRun, Runner, type RunSettings } from '../child.ts';
import { type Command, EXIT_GATE_FAILED } from '../command.ts';
import { renderNotice } from '../log.ts';
import { AssumptionTracker, NO_CALLS, summarizeFindings } from '../run-evidence.ts';
import { createProgress, formatNotice, indent, renderReport } from '../terminal.ts';
import { writeReports } from '../write-files.ts';
import {
  countRuns,
  formatVariant,
  sweepReport,
  Tail,
  type Variant,
  type VariantRun,
} from './sweep-report.ts';

const LAST_LINES = 20;

/** The default timeout of a run: this multiple of the baseline's time, but at least a minute. */
const TIMEOUT_FACTOR = 10;
const MIN_TIMEOUT_MS = 60_000;

interface SweepRun extends Omit<FinishedRun, 'server'> {
  readonly output: Tail;
  readonly findings: VariantRun['findings'];
}

export const sweep: Command = async ({ flags, positionals: command, terminal }) => {
  const { notices } = terminal;
  const runner = new Runner(command, flags, (_, child) => child.stop());
  const progress = createProgress(notices, 'sweep');
  const run = createRun(runner, flags.timeout, (message) => {
    progress('');
    notices.write(renderNotice(message, 'pretty'));
  });
  progress('running the command as it is');
  const tracker = new AssumptionTracker();
  const baseline = await run({ observe: tracker.observe });
  progress('');
  if (baseline === undefined) return { exitCode: runner.signals.exitCode ?? 1 };
  if (baseline.ending.exitCode !== 0) {
    notices.write(baselineFailure(baseline));
    return { exitCode: baseline.ending.exitCode };
  }
  if (tracker.calls === 0 && !flags.allowNoCalls) {
    notices.write(formatNotice(NO_CALLS));
    return { exitCode: 1 };
  }
  const { assume } = runner.settings;
  const byScenarios: Partial<Choices> = Object.assign(
    {},
    ...baseline.scenarios.map((it) => it.assume),
  );
  const chosen = chooseOptions({ ...assume, ...byScenarios });
  const free = ASSUMPTION_IDS.filter((id) => !(id in byScenarios));
  const { assumptions } = tracker;
  const touched = flags.all ? free : free.filter((id) => assumptions.includes(id));
  const variants = touched
    .flatMap((assumption) => optionNames(assumption).map((option) => ({ assumption, option })))
    .filter(({ assumption, option }) => option !== chosen[assumption]);
  const timeout = Math.max(MIN_TIMEOUT_MS, Math.ceil(baseline.seconds * TIMEOUT_FACTOR) * 1000);
  const runVariant = async (variant: Variant): Promise<VariantRun | undefined> => {
    const options = { assume: { ...assume, [variant.assumption]: variant.option } };
    const finishedRun = await run(options, timeout);
    return finishedRun && variantRun(variant, finishedRun, baseline, flags.allow);
  };
  const results = await runAll(variants, flags.jobs, runVariant, progress);
  const result = {
    command,
    baselineSeconds: baseline.seconds,
    runs: results.filter((run) => run !== undefined),
    untouched: free.filter((id) => !touched.includes(id)),
    decidedByScenario: ASSUMPTION_IDS.filter((id) => id in byScenarios),
    notRun: variants.filter((_, index) => results[index] === undefined),
  };
  const report = sweepReport(result);
  writeReports(report, flags);
  const failed = countRuns('failed', result) > 0;
  const exitCode = runner.signals.exitCode ?? (failed ? EXIT_GATE_FAILED : 0);
  return { text: renderReport(report, terminal.style), json: report.document, exitCode };
};

/** Returns what runs the command under other options, or returns undefined if a signal came. */
function createRun(runner: Runner, limit: number | undefined, notify: (message: string) => void) {
  const printed = new Set<string>();
  const onNotice = (message: string) => {
    // Every run has the same notices.
    if (!printed.has(message)) notify(message);
    printed.add(message);
  };
  return async (options: RunSettings, timeout?: number): Promise<SweepRun | undefined> => {
    const output = new Tail();
    const onOutput = (text: string) => output.add(text);
    const child = { onOutput, ownGroup: true, timeout: limit ?? timeout };
    const finishedRun = await runner.run({ ...options, onNotice }, child);
    if (finishedRun === undefined || runner.signals.exitCode !== undefined) return undefined;
    return { ...finishedRun, output, findings: summarizeFindings(finishedRun.server.findings()) };
  };
}

/** Runs each variant, several at a time. The result of a run that a signal stopped is undefined. */
async function runAll(
  variants: readonly Variant[],
  jobs = availableParallelism(),
  run: (variant: Variant) => Promise<VariantRun | undefined>,
  progress: (text: string) => void,
): Promise<(VariantRun | undefined)[]> {
  const results: (VariantRun | undefined)[] = [];
  const entries = variants.entries();
  let done = 0;
  const worker = async (): Promise<void> => {
    // All workers share one iterator: each takes the next variant.
    for (const [index, variant] of entries) {
      progress(`${done} of ${variants.length} options, now ${formatVariant(variant)}`);
      results[index] = await run(variant);
      done += 1;
    }
  };
  const workers = Math.min(jobs, variants.length);
  await Promise.all(Array.from({ length: workers }, worker));
  // A command can fail by chance, or because others run beside it.
  for (const [index, result] of results.entries()) {
    if (result?.verdict !== 'failed') continue;
    progress(`again, alone: ${formatVariant(result)}`);
    const alone = await run(result);
    if (alone?.verdict === 'passed') results[index] = { ...result, verdict: 'flaky' };
  }
  progress('');
  return results;
}

/** A finding that depends on the speed of calls, which differs between runs. */
const BY_SPEED = 'pointless-retry';

function variantRun(
  variant: Variant,
  { ending, seconds, output, findings }: SweepRun,
  baseline: SweepRun,
  allowed: readonly string[] = [],
): VariantRun {
  const known = [BY_SPEED, ...baseline.findings.map(({ code }) => code)];
  const isPassed = ending.exitCode === 0;
  return {
    ...variant,
    verdict: isPassed ? 'passed' : allowed.includes(formatVariant(variant)) ? 'allowed' : 'failed',
    ending,
    seconds,
    lastLines: isPassed ? [] : output.lines(LAST_LINES),
    findings: findings.filter(({ code }) => !known.includes(code)),
  };
}

function baselineFailure({ ending, output }: SweepRun): string {
  const lines = indent(output.lines(Number.POSITIVE_INFINITY));
  return `petstore-mock: sweep stopped because the command fails under the chosen options: it ${describeEnding(ending).text}\n${lines}`;
}
