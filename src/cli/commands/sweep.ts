import { availableParallelism } from 'node:os';
import { stripVTControlCharacters } from 'node:util';
import {
  ASSUMPTION_IDS,
  type AssumptionId,
  type Choices,
  chooseOptions,
  optionNames,
} from '../../core/contract/assumption-table.ts';
import { countText } from '../../core/words.ts';
import { EXIT_GATE_FAILED } from '../../terminal/command.ts';
import {
  bold,
  createProgress,
  escapeControls,
  formatNotice,
  indent,
  paint,
  renderSection,
  type Style,
  stripControls,
  wrap,
} from '../../terminal/terminal.ts';
import { describeEnding, type FinishedRun, Runner, type RunSettings } from '../child.ts';
import type { ProgramCommand } from '../command.ts';
import { renderNotice } from '../log.ts';
import {
  AssumptionTracker,
  type FindingSummary,
  NO_CALLS,
  summarizeFindings,
} from '../run-evidence.ts';

const LAST_LINES = 20;

/** The default timeout of a run: this multiple of the baseline's time, but at least a minute. */
const TIMEOUT_FACTOR = 10;
const MIN_TIMEOUT_MS = 60_000;

interface SweepRun extends Omit<FinishedRun, 'server'> {
  readonly output: Tail;
  readonly findings: VariantRun['findings'];
}

export const sweep: ProgramCommand = async ({ flags, positionals: command, terminal }) => {
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
    return finishedRun && judgeRun(variant, finishedRun, baseline, flags.allow);
  };
  const results = await runAll(variants, flags.jobs, runVariant, progress);
  const runs = results.filter((result) => result !== undefined);
  const notRun = variants.filter((_, index) => results[index] === undefined);
  const failed = countRuns('failed', runs) > 0;
  const result = {
    passed: !failed && notRun.length === 0,
    command,
    baselineSeconds: baseline.seconds,
    runs,
    untouched: free.filter((id) => !touched.includes(id)),
    decidedByScenario: ASSUMPTION_IDS.filter((id) => id in byScenarios),
    notRun,
  };
  const exitCode = runner.signals.exitCode ?? (failed ? EXIT_GATE_FAILED : 0);
  return { text: renderSweep(result, terminal.style), json: result, exitCode };
};

function createRun(runner: Runner, limit: number | undefined, notify: (message: string) => void) {
  const printed = new Set<string>();
  const onNotice = (message: string) => {
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

function judgeRun(
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

interface Variant {
  readonly assumption: AssumptionId;
  readonly option: string;
}

interface VariantRun extends Variant, Pick<FinishedRun, 'ending' | 'seconds'> {
  /** `allowed`: an expected failure. `flaky`: failed, and passed when it ran again, alone. */
  readonly verdict: 'passed' | 'failed' | 'allowed' | 'flaky';
  readonly lastLines: readonly string[];
  /** The kinds of findings that the baseline did not have. */
  readonly findings: readonly FindingSummary[];
}

interface SweepResult {
  readonly passed: boolean;
  readonly command: readonly string[];
  readonly baselineSeconds: number;
  readonly runs: readonly VariantRun[];
  readonly untouched: readonly AssumptionId[];
  readonly decidedByScenario: readonly AssumptionId[];
  readonly notRun: readonly Variant[];
}

function countRuns(verdict: VariantRun['verdict'], runs: readonly VariantRun[]): number {
  return runs.filter((run) => run.verdict === verdict).length;
}

function formatVariant({ assumption, option }: Variant): string {
  return `${assumption}=${option}`;
}

function renderSweep({ runs, untouched, ...result }: SweepResult, style: Style): string {
  const notRun = [
    ['the command did not touch it (--all includes it)', untouched],
    ['a scenario decides it', result.decidedByScenario],
    ['the sweep was interrupted', result.notRun.map(formatVariant)],
  ] as const;
  return [
    ...(runs.length > 0
      ? [
          renderSection(
            'Other options',
            runs.map((run) => createRow(run, style)),
            style,
          ),
        ]
      : []),
    ...runs.filter(({ verdict }) => verdict !== 'passed').map((run) => renderOutput(run, style)),
    ...notRun
      .filter(([, names]) => names.length > 0)
      .map(([why, names]) => {
        return `Not run because ${why}:\n${indent(wrap(names.join(', '), style.width - 2))}`;
      }),
    `${summarize(runs, result.notRun.length)}\n`,
  ].join('\n');
}

function summarize(runs: readonly VariantRun[], notRun: number): string {
  const [passed, failed] = [countRuns('passed', runs), countRuns('failed', runs)];
  const [allowed, flaky] = [countRuns('allowed', runs), countRuns('flaky', runs)];
  const assumptions = new Set(runs.map(({ assumption }) => assumption)).size;
  return [
    `tried ${countText(runs.length, 'alternative')} to ${countText(assumptions, 'assumption')}: ${passed} passed`,
    ...(failed || !allowed ? [`${failed} failed`] : []),
    ...(allowed ? [`${allowed} failed as allowed`] : []),
    ...(flaky ? [`${flaky} flaky`] : []),
    ...(notRun > 0 ? [`${notRun} not run`] : []),
  ].join(', ');
}

const TONES = { passed: 'green', failed: 'red', allowed: 'yellow', flaky: 'yellow' } as const;

function createRow(run: VariantRun, style: Style): string[] {
  const { assumption, option, verdict, ending } = run;
  const ended = `: the command ${describeEnding(ending).text}`;
  const more = verdict === 'flaky' ? `${ended}, and passed when it ran again` : ended;
  const notes = describeNewFindings(run).map((note) => `; ${note}`);
  const rest = verdict === 'passed' ? notes.join('') : more;
  return [assumption, option, paint(verdict, TONES[verdict], style) + rest];
}

function renderOutput(run: VariantRun, style: Style): string {
  const printed = run.lastLines.length > 0 ? run.lastLines : ['(no output)'];
  const lines = [...describeNewFindings(run), ...printed.map(escapeControls)];
  return `${bold(formatVariant(run), style)}\n${indent(lines)}`;
}

/** Escaped, since a client influences them. */
function describeNewFindings({ findings }: VariantRun): string[] {
  return findings.map(({ code, count, example }) => {
    const more = count === 1 ? '' : ` (and ${count - 1} more)`;
    return `found ${code}: ${escapeControls(example)}${more}`;
  });
}

/** Characters of a command's output: the last lines say why it failed. */
const MAX_OUTPUT = 64 * 1024;

export class Tail {
  #text = '';

  add(text: string): void {
    this.#text += text;
    if (this.#text.length > 2 * MAX_OUTPUT) this.#text = this.#text.slice(-MAX_OUTPUT);
  }

  /** The last lines that are not blank, without colours and other terminal controls. */
  lines(max: number): string[] {
    const lines = stripVTControlCharacters(this.#text.slice(-MAX_OUTPUT)).split(/\r?\n|\r/);
    const shown = lines.map((line) => stripControls(line).trimEnd());
    return shown.filter((line) => line !== '').slice(-max);
  }
}
