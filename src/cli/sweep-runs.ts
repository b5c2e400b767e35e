import { availableParallelism } from 'node:os';
import { stripVTControlCharacters } from 'node:util';
import type { RuleDefinition } from '../core/scenario/rule-shape.ts';
import { createRuleBook, type RuleBook } from '../core/scenario/rules.ts';
import { readScenario } from '../core/scenario/scenario-shape.ts';
import { stripControls } from '../terminal/terminal.ts';
import { CallTracker } from './call-tracker.ts';
import type { FinishedRun, Runner } from './child.ts';
import { groupFindings } from './reports.ts';
import { describeFindings } from './run-evidence.ts';
import type { Variant } from './sweep-plan.ts';

/**
 * `allowed`: an expected failure. `flaky`: failed, and passed when it ran again, alone. `unnoticed`: the
 * command passed as if there had been no fault. `not-injected`: the call that was to fail did not come.
 */
export type Verdict = 'passed' | 'failed' | 'allowed' | 'flaky' | 'unnoticed' | 'not-injected';

export interface VariantRun
  extends Pick<Variant, 'named'>,
    Pick<FinishedRun, 'ending' | 'seconds'> {
  readonly verdict: Verdict;
  readonly lastLines: readonly string[];
  /** The kinds of findings that the baseline did not have, each with an example. */
  readonly findings: readonly { code: string; count: number; example: string }[];
}

export interface SweepRun extends FinishedRun {
  readonly output: OutputTail;
  readonly tracker: CallTracker;
  readonly wasInjected: boolean;
}

/** @returns what runs the command under one variant, or as it is; undefined if a signal came */
export function createVariantRunner(
  runner: Runner,
  timeoutFlag: number | undefined,
  notify: (message: string) => void,
) {
  const printed = new Set<string>();
  const onNotice = (message: string) => {
    if (!printed.has(message)) notify(message);
    printed.add(message);
  };
  return async (
    { assume = runner.settings.assume, fault }: Pick<Variant, 'assume' | 'fault'>,
    defaultTimeout?: number,
  ): Promise<SweepRun | undefined> => {
    const output = new OutputTail();
    const tracker = new CallTracker();
    const book = fault && createFaultBook(fault.rule);
    let wasInjected = fault === undefined;
    const onOutput = (text: string) => output.add(text);
    const child = { onOutput, ownGroup: true, timeout: timeoutFlag ?? defaultTimeout };
    const finished = await runner.run({ assume, onNotice }, child, ({ sandboxes }) => {
      sandboxes.events.add(({ kind, exchange }) => {
        if (kind === 'exchange') tracker.add(exchange);
      });
      // The sandbox does not matter: its name differs between runs, and the count of calls does not.
      sandboxes.imposePreference = ({ operation }) => {
        const call = (tracker.counts.get(operation) ?? 0) + 1;
        if (wasInjected || book === undefined || operation !== fault?.operation) return undefined;
        wasInjected = call >= fault.call;
        return wasInjected ? { kind: 'scenario', book } : undefined;
      };
    });
    if (finished === undefined || runner.signals.exitCode !== undefined) return undefined;
    return { ...finished, output, tracker, wasInjected };
  };
}

function createFaultBook(rule: RuleDefinition): RuleBook | undefined {
  const reading = readScenario({ rules: [rule] }, 'sweep --faults');
  return reading.ok ? createRuleBook(reading.value.rules, 'prefer') : undefined;
}

/** Runs each variant, several at a time. The result of a run that a signal stopped is undefined. */
export async function runAll(
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
      progress(`${done} of ${variants.length} runs, now ${formatVariant(variant)}`);
      results[index] = await run(variant);
      done += 1;
    }
  };
  const workers = Math.min(jobs, variants.length);
  await Promise.all(Array.from({ length: workers }, worker));
  // A command can fail by chance, or because others run beside it.
  for (const [index, variant] of variants.entries()) {
    const result = results[index];
    if (result?.verdict !== 'failed' && result?.verdict !== 'not-injected') continue;
    if (hasWaited(variant, result)) continue;
    progress(`again, alone: ${formatVariant(variant)}`);
    const alone = await run(variant);
    if (alone?.verdict === 'passed') results[index] = { ...result, verdict: 'flaky' };
  }
  progress('');
  return results;
}

/** Whether the command waited for a reply that never comes: it would wait as long again. */
function hasWaited({ fault }: Variant, { verdict, ending }: VariantRun): boolean {
  return fault?.rule.fault === 'hang' && verdict === 'failed' && ending.kind === 'timed-out';
}

export function formatVariant({ named }: Pick<Variant, 'named'>): string {
  return Object.values(named).join('=');
}

/** A finding that depends on the speed of calls, which differs between runs. */
const BY_SPEED = 'pointless-retry';

const LAST_LINES = 20;

export function judgeRun(
  { named, fault }: Variant,
  run: SweepRun,
  baseline: SweepRun,
  allowed: readonly string[] = [],
): VariantRun {
  const { ending, seconds, output, server } = run;
  const known = new Set([BY_SPEED, ...Object.keys(baseline.server.findings().counts)]);
  const findings = groupFindings(server.findings())
    .filter(({ code }) => !known.has(code))
    .map(({ examples, ...group }) => {
      return { ...group, example: describeFindings({ ...group, examples }, 1) };
    });
  const isPassed = ending.exitCode === 0;
  const judge = (): Verdict => {
    if (!run.wasInjected) return 'not-injected';
    if (!isPassed) return 'failed';
    if (fault === undefined) return 'passed';
    if (findings.length > 0) return 'failed';
    // Whoever noticed has called again, or looked what became of the call.
    const more = [...run.tracker.counts].some(
      ([operation, count]) => count > (baseline.tracker.counts.get(operation) ?? 0),
    );
    return more ? 'passed' : 'unnoticed';
  };
  const verdict = judge();
  const isAllowed = verdict !== 'passed' && allowed.includes(formatVariant({ named }));
  const lastLines = isPassed ? [] : output.lines(LAST_LINES);
  return { named, verdict: isAllowed ? 'allowed' : verdict, ending, seconds, lastLines, findings };
}

/** Characters of a command's output: the last lines say why it failed. */
const MAX_OUTPUT = 64 * 1024;

export class OutputTail {
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
