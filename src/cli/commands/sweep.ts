import { ASSUMPTION_IDS } from '../../core/contract/assumption-table.ts';
import { EXIT_GATE_FAILED } from '../../terminal/command.ts';
import { createProgress, formatNotice, indent } from '../../terminal/terminal.ts';
import { describeEnding, Runner } from '../child.ts';
import { type Flags, MIN_SWEEP_TIMEOUT_MS, type ProgramCommand } from '../flags.ts';
import { renderMarkdownTable, reportToGitHub } from '../github.ts';
import { renderNotice } from '../log.ts';
import { NO_CALLS, writeReports } from '../run-evidence.ts';
import { planFaults, planOptions, type Variant } from '../sweep-plan.ts';
import {
  createVariantRunner,
  formatVariant,
  judgeRun,
  runAll,
  type SweepRun,
  type VariantRun,
} from '../sweep-runs.ts';
import { describeSweep, renderSweep } from '../sweep-text.ts';

/** The default timeout of a run: this multiple of the baseline's time, but at least `MIN_SWEEP_TIMEOUT_MS`. */
const TIMEOUT_FACTOR = 10;

export const sweep: ProgramCommand = async ({ flags, positionals: command, terminal }) => {
  const { notices } = terminal;
  const runner = new Runner(command, flags, (_, child) => child.stop());
  const progress = createProgress(notices, 'sweep');
  const run = createVariantRunner(runner, flags.timeout, (message) => {
    progress('');
    notices.write(renderNotice(message, 'pretty'));
  });
  progress('running the command as it is');
  const baseline = await run({});
  progress('');
  if (baseline === undefined) return { exitCode: runner.signals.exitCode ?? 1 };
  const { ending, tracker } = baseline;
  if (ending.exitCode !== 0) {
    notices.write(baselineFailure(baseline));
    return { exitCode: ending.exitCode };
  }
  if (tracker.calls === 0 && !flags.allowNoCalls) {
    notices.write(formatNotice(NO_CALLS));
    return { exitCode: 1 };
  }
  const { variants: all, ...others } = planRuns(flags, runner, baseline);
  const variants = all.slice(0, flags.maxRuns);
  const multiple = Math.ceil(baseline.seconds * TIMEOUT_FACTOR) * 1000;
  const timeout = Math.max(MIN_SWEEP_TIMEOUT_MS, multiple);
  const runVariant = async (variant: Variant): Promise<VariantRun | undefined> => {
    const finished = await run(variant, timeout);
    return finished && judgeRun(variant, finished, baseline, flags.allow);
  };
  const results = await runAll(variants, flags.jobs, runVariant, progress);
  const runs = results.filter((result) => result !== undefined);
  const interrupted = variants.filter((_, index) => results[index] === undefined);
  const notRun = [...interrupted, ...all.slice(variants.length)];
  const report = describeSweep(runs, flags.faults !== undefined);
  const { server } = baseline;
  const evidence = { coverage: server.coverage(), findings: server.findings(), sweep: report };
  const problems = await writeReports(flags, evidence);
  const table = report.rows.map(({ isBad: _, ...cells }) => Object.values(cells));
  await reportToGitHub(terminal, renderMarkdownTable([report.title, '', '', ''], table));
  notices.write(problems.map(formatNotice).join(''));
  const left = {
    'the command did not touch it (--all includes it)': others.untouched,
    'a scenario decides it': others.decidedByScenario,
    'the sweep was interrupted': interrupted.map(formatVariant),
    '--max-runs leaves it out': all.slice(variants.length).map(formatVariant),
  };
  const failed = report.rows.some(({ isBad }) => isBad);
  const exitCode = failed ? EXIT_GATE_FAILED : Math.sign(problems.length);
  return {
    text: renderSweep(report, runs, left, notRun.length, terminal.style),
    json: {
      passed: !failed && interrupted.length === 0,
      command,
      baselineSeconds: baseline.seconds,
      runs: runs.map(({ named, ...one }) => ({ ...named, ...one })),
      ...others,
      notRun: notRun.map(({ named }) => named),
    },
    exitCode: runner.signals.exitCode ?? exitCode,
  };
};

function planRuns(
  { faults, all }: Flags,
  { settings: { assume } }: Runner,
  { tracker, scenarios }: SweepRun,
): ReturnType<typeof planOptions> {
  if (faults === undefined)
    return planOptions(assume, scenarios, all ? ASSUMPTION_IDS : tracker.assumptions);
  return { variants: planFaults(faults, tracker), untouched: [], decidedByScenario: [] };
}

function baselineFailure({ ending, output }: SweepRun): string {
  const lines = indent(output.lines(Number.POSITIVE_INFINITY));
  return `petstore-mock: sweep stopped because the command fails under the chosen options: it ${describeEnding(ending).text}\n${lines}`;
}
