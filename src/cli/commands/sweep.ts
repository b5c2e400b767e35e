import { availableParallelism } from 'node:os';
import {
  type AssumptionId,
  chooseOptions,
  isAssumptionId,
} from '../../contract/assumption-table.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import type { RunningCommand } from '../child/child.ts';
import { exitCodeOf, signalExitCode, tellEnding } from '../child/ending.ts';
import { requireCommand } from '../child/runner.ts';
import { onSignals, type PassedSignal } from '../child/signals.ts';
import { assignmentsIn } from '../input/assume.ts';
import { integerOf, isOn, type Layers, textOf } from '../input/given.ts';
import { type ServeSettings, serveSettings } from '../input/settings.ts';
import { jsonText } from '../output/json-text.ts';
import type { Terminal } from '../output/terminal.ts';
import { writeReport } from '../output/write-report.ts';
import { load, start } from '../start-server.ts';
import { type Plan, planSweep } from '../sweep/plan.ts';
import { Progress } from '../sweep/progress.ts';
import { sweepDocument, sweepJunit, sweepPage } from '../sweep/render-files.ts';
import { renderSweep } from '../sweep/render-text.ts';
import {
  nameOf,
  newlyFound,
  type SweepReport,
  type Variant,
  type VariantRun,
  withVerdict,
} from '../sweep/report.ts';
import { atATime, type FinishedRun, type Runs, runOnce } from '../sweep/run.ts';
import { Touched } from '../sweep/touched.ts';
import type { Command } from './command.ts';

/** Lines of output shown of a failed run. */
const LAST_LINES = 20;

/** Default timeout of a run: this multiple of the baseline, but at least this many seconds. */
const PATIENCE = 10;
const LEAST_PATIENCE = 60;

/** Exit code if the command fails under another option. */
const FAILED = 3;

/** Runs a command once for each other option of each assumption that it touches. */
export const sweep: Command = async ({ layers, positionals: command, terminal }) => {
  requireCommand('sweep', command);
  const sweeping = prepare(layers, terminal);
  const { progress, settings, running, timeout } = sweeping;
  // Loading can wait for a pipe. Leaving ends it.
  const files = await Promise.race([load(settings, layers), sweeping.signalled]);
  if (files === undefined) return signalExitCode(sweeping.interrupted ?? 'SIGTERM');
  const runs: Runs = {
    command,
    scenarios: files.scenarios,
    startServer: (each) => start(each, layers, files),
    environment: process.env,
    running,
  };
  progress.baseline();
  const touched = new Touched();
  const baseline = await runOnce(runs, { ...settings, observe: touched.observe }, timeout);
  progress.clear();
  if (sweeping.interrupted !== undefined) return signalExitCode(sweeping.interrupted);
  if (baseline.ending.kind !== 'exited' || baseline.ending.code !== 0) {
    terminal.notices.write(tellBroken(baseline));
    return exitCodeOf(baseline.ending);
  }
  const plan = planOf(
    settings,
    files.scenarios,
    isOn(layers, 'all') ? undefined : touched.assumptions,
  );
  const results = await runVariants(sweeping, runs, plan.variants, baseline);
  const report = reportOf(command, baseline.seconds, plan, results);
  write(report, layers, terminal);
  if (touched.calls === 0) terminal.notices.write(NEVER_CALLED);
  if (sweeping.interrupted !== undefined) return signalExitCode(sweeping.interrupted);
  return withVerdict('failed', report).length > 0 ? FAILED : 0;
};

const NEVER_CALLED =
  'petstore-mock: the command made no call: does it take the base URL from PETSTORE_MOCK_URL?\n';

/** A sweep under way. */
interface Sweeping {
  readonly settings: ServeSettings;
  /** The commands that are running, for an interruption to end. */
  readonly running: Set<RunningCommand>;
  readonly jobs: number;
  readonly timeout: number | undefined;
  readonly allowed: ReadonlySet<string>;
  readonly progress: Progress;
  interrupted: PassedSignal | undefined;
  /** Resolves at an interruption. */
  readonly signalled: Promise<undefined>;
}

function prepare(layers: Layers, { notices }: Terminal): Sweeping {
  const settings = { ...serveSettings(layers), port: 0, db: undefined, watch: false };
  const allowed = assignmentsIn(layers, 'allow').map(([assumption, option]) =>
    nameOf({ assumption, option }),
  );
  const jobs = integerOf(layers, 'jobs') ?? availableParallelism();
  const timeout = integerOf(layers, 'timeout');
  const running = new Set<RunningCommand>();
  let stop: (reason: undefined) => void = () => {};
  const sweeping: Sweeping = {
    settings,
    running,
    jobs,
    timeout,
    allowed: new Set(allowed),
    progress: new Progress(notices),
    interrupted: undefined,
    signalled: new Promise((resolve) => {
      stop = resolve;
    }),
  };
  onSignals((signal) => {
    sweeping.interrupted ??= signal;
    stop(undefined);
    for (const child of running) child.stop();
  });
  return sweeping;
}

function planOf(
  settings: ServeSettings,
  scenarios: readonly Scenario[],
  touched: readonly AssumptionId[] | undefined,
): Plan {
  const byScenarios = Object.assign({}, ...scenarios.map(({ assume }) => assume));
  const chosen = chooseOptions({ ...settings.assume, ...byScenarios });
  return planSweep(chosen, Object.keys(byScenarios).filter(isAssumptionId), touched);
}

/** Runs each variant; those that an interruption stopped come back as they are. */
async function runVariants(
  sweeping: Sweeping,
  runs: Runs,
  variants: readonly Variant[],
  baseline: FinishedRun,
): Promise<(VariantRun | Variant)[]> {
  const { progress, settings, jobs } = sweeping;
  const patience = Math.max(LEAST_PATIENCE, baseline.seconds * PATIENCE);
  const timeout = sweeping.timeout ?? Math.ceil(patience);
  const run = async ({ assumption, option }: Variant): Promise<VariantRun | Variant> => {
    const variant = { assumption, option };
    if (sweeping.interrupted !== undefined) return variant;
    const assume = { ...settings.assume, [assumption]: option };
    const finished = await runOnce(runs, { ...settings, assume }, timeout);
    if (sweeping.interrupted !== undefined) return variant;
    return judge(variant, finished, baseline, sweeping.allowed);
  };
  progress.start(variants.length);
  const results = await atATime(jobs, variants, async (variant) => {
    const result = await run(variant);
    if (isRun(result)) progress.finished(result);
    return result;
  });
  if (jobs > 1 && variants.length > 1) await runFailedAlone(results, run, progress);
  progress.clear();
  return results;
}

/** Concurrent commands can disturb each other: a failure counts only if it also fails alone. */
async function runFailedAlone(
  results: (VariantRun | Variant)[],
  run: (variant: Variant) => Promise<VariantRun | Variant>,
  progress: Progress,
): Promise<void> {
  for (const [index, result] of results.entries()) {
    if (!isRun(result) || result.verdict !== 'failed') continue;
    progress.again(result);
    const alone = await run(result);
    if (isRun(alone) && alone.verdict === 'passed')
      results[index] = { ...alone, passedAlone: true };
  }
}

function isRun(result: VariantRun | Variant): result is VariantRun {
  return 'verdict' in result;
}

function judge(
  variant: Variant,
  { ending, seconds, output, findings: found }: FinishedRun,
  baseline: FinishedRun,
  allowed: ReadonlySet<string>,
): VariantRun {
  const findings = newlyFound(found, baseline.findings);
  const told = { ending, seconds, findings, passedAlone: false };
  if (ending.kind === 'exited' && ending.code === 0) {
    return { ...variant, verdict: 'passed', ...told, lastLines: [] };
  }
  const verdict = allowed.has(nameOf(variant)) ? 'allowed' : 'failed';
  return { ...variant, verdict, ...told, lastLines: output.lines(LAST_LINES) };
}

function reportOf(
  command: readonly string[],
  baselineSeconds: number,
  { untouched, decided }: Plan,
  results: readonly (VariantRun | Variant)[],
): SweepReport {
  const runs = results.filter(isRun);
  const notRun = results.filter((it) => !isRun(it));
  return { command, baselineSeconds, runs, untouched, decided, notRun };
}

function write(report: SweepReport, layers: Layers, { output, style }: Terminal): void {
  const junit = textOf(layers, 'junit');
  const html = textOf(layers, 'html');
  output.write(isOn(layers, 'json') ? jsonText(sweepDocument(report)) : renderSweep(report, style));
  if (junit !== undefined) writeReport('--junit', junit, sweepJunit(report));
  if (html !== undefined) writeReport('--html', html, sweepPage(report));
}

function tellBroken({ ending, output }: FinishedRun): string {
  const lines = output.lines(Number.POSITIVE_INFINITY).map((line) => `  ${line}\n`);
  return `petstore-mock: nothing was swept: under the chosen options, the command ${tellEnding(ending)}\n${lines.join('')}`;
}
