import { stripVTControlCharacters } from 'node:util';
import { type AssumptionId, assumptionShape } from '../../contract/assumption-table.ts';
import type { Report, ReportRow, Section } from '../../report/report.ts';
import { countText } from '../../words.ts';
import { describeEnding, type FinishedRun } from '../child.ts';
import type { FindingSummary } from '../run-evidence.ts';
import { escapeControls, stripControls } from '../terminal.ts';

export interface Variant {
  readonly assumption: AssumptionId;
  readonly option: string;
}

export interface VariantRun extends Variant, Pick<FinishedRun, 'ending' | 'seconds'> {
  /** `allowed`: an expected failure. `flaky`: failed, and passed when it ran again, alone. */
  readonly verdict: 'passed' | 'failed' | 'allowed' | 'flaky';
  readonly lastLines: readonly string[];
  /** The kinds of findings that the baseline did not have. */
  readonly findings: readonly FindingSummary[];
}

export interface SweepResult {
  readonly command: readonly string[];
  readonly baselineSeconds: number;
  readonly runs: readonly VariantRun[];
  /** Assumptions that were not run because the baseline did not touch them. */
  readonly untouched: readonly AssumptionId[];
  readonly decidedByScenario: readonly AssumptionId[];
  /** Variants that were not run because of an interruption. */
  readonly notRun: readonly Variant[];
}

export function countRuns(verdict: VariantRun['verdict'], { runs }: SweepResult): number {
  return runs.filter((run) => run.verdict === verdict).length;
}

export function formatVariant({ assumption, option }: Variant): string {
  return `${assumption}=${option}`;
}

function formatSummary(result: SweepResult): string {
  const { runs, notRun } = result;
  const [failed, allowed] = [countRuns('failed', result), countRuns('allowed', result)];
  const flaky = countRuns('flaky', result);
  const assumptions = new Set(runs.map(({ assumption }) => assumption)).size;
  return [
    `tried ${countText(runs.length, 'alternative')} to ${countText(assumptions, 'assumption')}: ${countRuns('passed', result)} passed`,
    ...(failed || !allowed ? [`${failed} failed`] : []),
    ...(allowed ? [`${allowed} failed as allowed`] : []),
    ...(flaky ? [`${flaky} flaky`] : []),
    ...(notRun.length > 0 ? [`${notRun.length} not run`] : []),
  ].join(', ');
}

/** The result of a sweep as a report. Failures have the last lines that the command printed. */
export function sweepReport(result: SweepResult): Report {
  const { command, runs, untouched, decidedByScenario, notRun } = result;
  const summary = formatSummary(result);
  const [passed, failed] = [countRuns('passed', result), countRuns('failed', result)];
  return {
    title: 'What the command depends on',
    document: { passed: failed === 0 && notRun.length === 0, ...result },
    intro: [
      `\`${command.join(' ')}\``,
      'Each run changed the answer to one open question of the document. A failed run means that the command breaks if the real service behaves that way.',
      `${summary}.`,
    ],
    tiles: [{ name: 'options passed', shown: passed, total: runs.length }],
    sections: [
      {
        title: 'Other options',
        layout: 'table',
        columns: ['Assumption', 'Option', 'Result'],
        rows: runs.map(runRow),
        suite: 'petstore-mock sweep',
      },
      ...notRunSection('the command did not touch it (--all includes it)', untouched),
      ...notRunSection('a scenario decides it', decidedByScenario),
      ...notRunSection('the sweep was interrupted', notRun),
    ],
    summary: [summary],
  };
}

/** What was not run; of an assumption, every option but the chosen one. */
function notRunSection(message: string, list: readonly (AssumptionId | Variant)[]): Section[] {
  if (list.length === 0) return [];
  const rows = list.map((it): ReportRow => {
    const isVariant = typeof it === 'object';
    const group = isVariant ? it.assumption : it;
    const name = isVariant ? it.option : 'every other option';
    return {
      title: isVariant ? formatVariant(it) : it,
      test: { group, name, verdict: 'skipped', message },
    };
  });
  const title = `Not run because ${message}`;
  return [{ title, layout: 'names', rows, suite: 'petstore-mock sweep' }];
}

const TONES = { passed: 'green', failed: 'red', allowed: 'yellow', flaky: 'yellow' } as const;

function runRow(run: VariantRun): ReportRow {
  const { assumption, option, verdict, ending, seconds, lastLines, findings } = run;
  const { question, options } = assumptionShape(assumption);
  const meaning = options.find(({ name }) => name === option)?.meaning ?? '';
  const notes = findings.map(({ code, count, example }) => {
    const more = count === 1 ? '' : ` (and ${count - 1} more)`;
    return `found ${code}: ${escapeControls(example)}${more}`;
  });
  const ended = `the command ${describeEnding(ending).text}`;
  const why = verdict === 'flaky' ? `${ended}, and passed when it ran again` : ended;
  const printed = [...notes, ...lastLines];
  const outcome = {
    passed: { verdict: 'passed' },
    failed: { verdict: 'failure', message: why },
    allowed: { verdict: 'skipped', message: `${why}, as allowed` },
    flaky: { verdict: 'skipped', message: why },
  } as const;
  return {
    title: formatVariant(run),
    cells: [
      assumption,
      option,
      verdict === 'passed' ? [verdict, ...notes].join('; ') : `${verdict}: ${why}`,
    ],
    tonedCell: 2,
    tone: TONES[verdict],
    about: [question, meaning],
    ...(verdict !== 'passed' && {
      output: lastLines.length > 0 ? printed : [...printed, '(no output)'],
    }),
    test: { group: assumption, name: option, seconds, output: printed, ...outcome[verdict] },
  };
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
