import { assumptionTopic } from '../../core/contract/assumption-table.ts';
import { deviationText } from '../../core/contract/check-reply.ts';
import { formatProblem } from '../../core/problems.ts';
import { readJson } from '../../core/shape/source-text.ts';
import { countText, joinWords } from '../../core/words.ts';
import {
  type Command,
  EXIT_GATE_FAILED,
  misuse,
  readTextFile,
  UsageError,
} from '../../terminal/command.ts';
import { renderSection, renderTable } from '../../terminal/table.ts';
import { escapeControls, formatNotice, paint, type Style } from '../../terminal/terminal.ts';
import { formatJson, requireNew, writeOutput } from '../../terminal/write-files.ts';
import {
  type CheckChange,
  type EarlierCheck,
  listChanges,
  readEarlierCheck,
  verdictText,
} from './check/changes.ts';
import { checkDeployment } from './check/check.ts';
import { planCheck } from './check/probes.ts';
import { type CheckReport, findShortfall, reportsViolation } from './check/report.ts';
import { createConfig } from './check/saved-verdicts.ts';
import { askConsent, openDeployment, withProgress } from './deployment-access.ts';
import type { DeploymentFlags } from './flags.ts';
import { SAFE_METHODS } from './transport.ts';

export const check: Command<DeploymentFlags> = async ({
  positionals: [url = ''],
  terminal,
  flags,
}) => {
  const { style } = terminal;
  const client = await openDeployment(url, flags, terminal);
  const plan = planCheck(flags);
  if (flags.dryRun) return { text: renderPlan(plan, style), json: plan, exitCode: 0 };
  const earlier = flags.against === undefined ? undefined : await readEarlier(flags.against);
  if (flags.save !== undefined && !flags.force) requireNew(flags.save, '--save');
  const countTimes = (steps: typeof plan) => steps.reduce((sum, { times }) => sum + times, 0);
  const requests = countTimes(plan);
  const writing = countTimes(plan.filter(({ method }) => !SAFE_METHODS.test(method)));
  const changing = writing === 0 ? 'none of which write' : `${writing} of which write`;
  const planned = `up to ${countText(requests, 'request')}, ${changing}, and repeats of those that fail`;
  await askConsent(client.url, planned, flags.yes, terminal);
  const checked = await withProgress(client, 'check', terminal, (progress) =>
    checkDeployment(client, flags, progress),
  );
  const { report, notes } = checked;
  const changes = earlier && listChanges(earlier, report, flags.allowUnsettled ?? false);
  const notify = (text: string) => terminal.notices.write(formatNotice(text));
  if (flags.json) for (const change of changes ?? []) notify(formatChange(change));
  const wanted = flags.allowUnsettled ? undefined : findShortfall(report);
  const others = report.assumptions.filter(({ verdict }) => verdict === 'none-of-the-options');
  if (wanted !== undefined) {
    const why = `fewer than ${wanted} assumptions are settled, too few to tell deployments apart`;
    notify(`${why}; --allow-unsettled passes and saves them`);
  } else if (flags.save !== undefined) {
    await writeOutput(flags.save, formatJson(createConfig(checked, client.url.href)));
    if (others.length > 0) {
      const names = joinWords(
        others.map(({ id }) => id),
        'and',
      );
      notify(`a mock with ${flags.save} answers otherwise than the deployment in ${names}`);
    }
  }
  const failures = [
    reportsViolation(report),
    wanted !== undefined,
    changes?.some(({ fails }) => fails),
    // Without --against, none of the options fails the check; with it, only a change to that does.
    changes === undefined && others.length > 0 && !flags.allowUnsettled,
  ];
  const exitCode = failures.includes(true) ? EXIT_GATE_FAILED : 0;
  return { text: renderCheck(report, changes, notes, style), json: report, exitCode };
};

async function readEarlier(file: string): Promise<EarlierCheck> {
  const text = await readTextFile(file, '--against', 'a JSON file');
  const parsed = readJson(`--against: ${file}`, text);
  if (!parsed.ok) throw new UsageError(parsed.problems.map(formatProblem).join('\n'));
  const earlier = readEarlierCheck(parsed.value);
  if (earlier !== undefined) return earlier;
  throw misuse('--against', `a file from check --save or --json at ${file}`, 'other JSON');
}

const TONES: Readonly<Record<string, 'grey' | 'yellow' | 'red'>> = {
  open: 'grey',
  'not-tried': 'grey',
  'none-of-the-options': 'yellow',
  different: 'red',
};

function renderCheck(
  { assumptions, replies }: CheckReport,
  changes: readonly CheckChange[] | undefined,
  notes: readonly string[],
  style: Style,
): string {
  const sections = new Map<string, (readonly string[])[]>();
  const add = (title: string, ...row: readonly string[]) => {
    sections.set(title, [...(sections.get(title) ?? []), row]);
  };
  for (const { id, verdict, option = verdictText(verdict), why = '' } of assumptions)
    add(assumptionTopic(id), id, paint(option, TONES[verdict], style), escapeControls(why));
  for (const { operation, status, verdict, differences = [], why } of replies) {
    const found = differences.map((each) => `${each.exchange}: ${deviationText(each)}`);
    const reasons = [...found, ...(why === undefined ? [] : [why])].join('; ');
    const shown = paint(verdictText(verdict), TONES[verdict], style);
    add('Documented replies', `${operation} ${status}`, shown, escapeControls(reasons));
  }
  for (const change of changes ?? []) add('Changes', escapeControls(formatChange(change)));
  if (changes?.length === 0) add('Changes', 'none');
  const summary = [
    ...notes,
    countVerdicts('assumption', assumptions, ['settled', 'none-of-the-options', 'open']),
    countVerdicts('reply', replies, ['as-documented', 'different', 'not-tried']),
  ];
  const tables = [...sections].map(([title, rows]) => renderSection(title, rows, style));
  return [...tables, summary.map((line) => `${escapeControls(line)}\n`).join('')].join('\n');
}

function countVerdicts<V extends string>(
  what: 'assumption' | 'reply',
  all: readonly { readonly verdict: V }[],
  names: readonly V[],
): string {
  const counts = names.map((name) => {
    return `${all.filter(({ verdict }) => verdict === name).length} ${verdictText(name)}`;
  });
  return `${countText(all.length, what, what === 'reply' ? 'replies' : undefined)}: ${counts.join(', ')}`;
}

function formatChange({ subject, before, after, why }: CheckChange): string {
  const reason = why === undefined ? '' : `: ${why}`;
  return `${subject}: ${before} before, ${after} now${reason}`;
}

function renderPlan(plan: ReturnType<typeof planCheck>, style: Style): string {
  const rows = plan.map(({ request, times, why }, at) => {
    return [String(at + 1), request, `${why}${times > 1 ? `, ${times} times` : ''}`];
  });
  return renderTable(rows, style);
}
