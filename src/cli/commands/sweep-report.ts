import { stripVTControlCharacters } from 'node:util';
import { type AssumptionId, assumptionShape } from '../../contract/assumption-table.ts';
import type { Report, Row, Section } from '../../report/report.ts';
import { countText } from '../../words.ts';
import { type CommandEnding, endingText, exitCodeOf } from '../child.ts';
import { type FindingSummary, findingText } from '../evidence.ts';
import { rounded } from '../log.ts';
import { withoutControls } from '../terminal.ts';

/** An assumption with one of its options. */
export interface Variant {
  readonly assumption: AssumptionId;
  readonly option: string;
}

/** A run of the command under a variant. */
export interface VariantRun extends Variant {
  /** `allowed`: an expected failure. */
  readonly verdict: 'passed' | 'failed' | 'allowed';
  readonly ending: CommandEnding;
  readonly seconds: number;
  /** The last lines that the command printed; none if it passed. */
  readonly lastLines: readonly string[];
  /** The kinds of findings that the baseline did not have. */
  readonly findings: readonly FindingSummary[];
  /** Whether it failed in parallel and passed alone. */
  readonly passedAlone: boolean;
}

/** The result of a sweep. */
export interface SweepResult {
  readonly command: readonly string[];
  readonly baselineSeconds: number;
  /** In the order of the contract. */
  readonly runs: readonly VariantRun[];
  /** Assumptions that were not run because the baseline did not touch them. */
  readonly untouched: readonly AssumptionId[];
  /** Assumptions that were not run because a scenario decides them. */
  readonly decided: readonly AssumptionId[];
  /** Variants that were not run because of an interruption. */
  readonly notRun: readonly Variant[];
}

export function withVerdict(wanted: VariantRun['verdict'], { runs }: SweepResult): VariantRun[] {
  return runs.filter(({ verdict }) => verdict === wanted);
}

/** What was not run, by reason. A variant without an option stands for all but the chosen one. */
function notRunIn({ untouched, decided, notRun }: SweepResult) {
  const whole = (ids: readonly AssumptionId[]) => ids.map((assumption) => ({ assumption }));
  const groups: { why: string; variants: (Pick<Variant, 'assumption'> & Partial<Variant>)[] }[] = [
    { why: 'the command did not touch it (--all includes it)', variants: whole(untouched) },
    { why: 'a scenario decides it', variants: whole(decided) },
    { why: 'the sweep was interrupted', variants: [...notRun] },
  ];
  return groups.filter(({ variants }) => variants.length > 0);
}

/** A finding that depends on the speed of calls, which differs between runs. */
const BY_SPEED = 'pointless-retry';

/** The kinds of findings of a run that the baseline did not have. */
export function newFindings(
  found: readonly FindingSummary[],
  first: readonly FindingSummary[],
): readonly FindingSummary[] {
  const known = new Set([BY_SPEED, ...first.map(({ code }) => code)]);
  return found.filter(({ code }) => !known.has(code));
}

/** Notes on a run, one per line. */
function notesOf({ findings, passedAlone }: VariantRun): string[] {
  return [
    ...findings.map((found) => `found ${found.code}: ${findingText(found)}`),
    ...(passedAlone ? ['failed in parallel, passed alone (--jobs 1 runs one at a time)'] : []),
  ];
}

export function nameOf({ assumption, option }: Partial<Variant>): string {
  return option === undefined ? `${assumption}` : `${assumption}=${option}`;
}

/** The result in one sentence. */
function summaryOf(report: SweepResult): string {
  const { runs, notRun } = report;
  const [passed, failed, allowed] = (['passed', 'failed', 'allowed'] as const).map(
    (verdict) => withVerdict(verdict, report).length,
  );
  const assumptions = new Set(runs.map(({ assumption }) => assumption)).size;
  return [
    `tried ${countText(runs.length, 'alternative')} to ${countText(assumptions, 'assumption')}: ${passed} passed`,
    ...(failed || !allowed ? [`${failed} failed`] : []),
    ...(allowed ? [`${allowed} failed as allowed`] : []),
    ...(notRun.length > 0 ? [`${notRun.length} not run`] : []),
  ].join(', ');
}

/** The result of a sweep as a report. Failures have the last lines that the command printed. */
export function sweepReport(result: SweepResult): Report {
  const { command, runs } = result;
  return {
    title: 'What the command depends on',
    document: documentOf(result),
    intro: [
      `\`${command.join(' ')}\``,
      'Each run changed the answer to one open question of the document. A failed run means that the command breaks if the real service behaves that way.',
      `${summaryOf(result)}.`,
    ],
    tiles: [
      { name: 'options passed', shown: withVerdict('passed', result).length, total: runs.length },
    ],
    sections: [
      {
        title: 'Other options',
        layout: 'table',
        columns: ['Assumption', 'Option', 'Result'],
        rows: runs.map(runRow),
        suite: 'petstore-mock sweep',
      },
      ...notRunIn(result).map(({ why, variants }): Section => {
        return {
          title: `Not run because ${why}`,
          layout: 'names',
          rows: variants.map((variant): Row => {
            const { assumption: group, option: name = 'every other option' } = variant;
            const test = { group, name, verdict: 'skipped', message: why } as const;
            return { title: nameOf(variant), test };
          }),
          suite: 'petstore-mock sweep',
        };
      }),
    ],
    summary: [summaryOf(result)],
  };
}

const TONES = { passed: 'green', failed: 'red', allowed: 'yellow' } as const;

function runRow(run: VariantRun): Row {
  const { assumption, option, verdict, ending, seconds, lastLines } = run;
  const { question, options } = assumptionShape(assumption);
  const meaning = options.find(({ name }) => name === option)?.meaning ?? '';
  const notes = notesOf(run);
  const why = `the command ${endingText(ending)}`;
  const result = verdict === 'passed' ? [verdict, ...notes].join('; ') : `${verdict}: ${why}`;
  const printed = [...notes, ...lastLines];
  const outcome = {
    passed: { verdict: 'passed' },
    failed: { verdict: 'failure', message: why },
    allowed: { verdict: 'skipped', message: `${why}, as allowed` },
  } as const;
  return {
    title: nameOf(run),
    cells: [assumption, option, result],
    tonedCell: 2,
    tone: TONES[verdict],
    about: [question, meaning],
    ...(verdict !== 'passed' && {
      output: lastLines.length > 0 ? printed : [...printed, '(no output)'],
    }),
    test: { group: assumption, name: option, seconds, output: printed, ...outcome[verdict] },
  };
}

/** The result for programs. */
function documentOf(result: SweepResult): object {
  const { command, baselineSeconds, runs, untouched, decided, notRun } = result;
  return {
    command,
    passed: withVerdict('failed', result).length === 0 && notRun.length === 0,
    baselineSeconds: rounded(baselineSeconds),
    runs: runs.map((run) => ({
      ...run,
      ending: { ...run.ending, exitCode: exitCodeOf(run.ending) },
      seconds: rounded(run.seconds),
    })),
    untouched,
    decidedByScenario: decided,
    notRun,
  };
}

/** Bytes kept of a command's output. The last lines say why it failed. */
const KEPT = 64 * 1024;

/** The end of a command's output. */
export class Tail {
  #chunks: Buffer[] = [];
  #size = 0;

  add(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#size += bytes.length;
    if (this.#size < 2 * KEPT) return;
    this.#chunks = [Buffer.concat(this.#chunks).subarray(-KEPT)];
    this.#size = KEPT;
  }

  /** The last lines that are not blank, without colours and other terminal controls. */
  lines(most: number): string[] {
    const text = stripVTControlCharacters(Buffer.concat(this.#chunks).subarray(-KEPT).toString());
    const lines = text.split(/\r?\n|\r/).map((line) => withoutControls(line).trimEnd());
    return lines.filter((line) => line !== '').slice(-most);
  }
}
