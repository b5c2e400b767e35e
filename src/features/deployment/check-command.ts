import { assumptionTopic } from '../../core/contract/assumption-table.ts';
import { deviationText } from '../../core/contract/check-reply.ts';
import { readJson } from '../../core/shape/source-text.ts';
import { countText, formatProblem } from '../../core/words.ts';
import {
  type Command,
  EXIT_GATE_FAILED,
  readTextFile,
  refusal,
  UsageError,
} from '../../terminal/command.ts';
import {
  escapeControls,
  formatNotice,
  paint,
  renderSection,
  renderTable,
  type Style,
} from '../../terminal/terminal.ts';
import { formatJson, requireNew, writeOutput } from '../../terminal/write-files.ts';
import { planCheck } from './check/probes.ts';
import {
  type CheckReport,
  createCheckReport,
  findShortfall,
  reportsViolation,
} from './check/report.ts';
import { runCheck } from './check/run.ts';
import {
  type CheckChange,
  createConfig,
  type EarlierCheck,
  listChanges,
  readEarlierCheck,
  verdictText,
} from './check/saved-checks.ts';
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
  const count = (requests: typeof plan) => requests.reduce((sum, { times }) => sum + times, 0);
  const [requests, writing] = [
    count(plan),
    count(plan.filter(({ method }) => !SAFE_METHODS.test(method))),
  ];
  const changing = writing === 0 ? 'none of which write' : `${writing} of which write`;
  const planned = `up to ${countText(requests, 'request')}, ${changing}, and repeats of those that fail`;
  await askConsent(client.url, planned, flags.yes, terminal);
  const run = await withProgress(client, 'check', terminal, (progress) =>
    runCheck(client, flags, progress),
  );
  const report = createCheckReport(run);
  const changes = earlier && listChanges(earlier, report, flags.allowUnsettled ?? false);
  const { href } = client.url;
  if (flags.json)
    for (const change of changes ?? []) terminal.notices.write(formatNotice(formatChange(change)));
  const wanted = flags.allowUnsettled ? undefined : findShortfall(report);
  if (wanted !== undefined) {
    const why = `fewer than ${wanted} assumptions are settled, too few to tell deployments apart`;
    terminal.notices.write(formatNotice(`${why}; --allow-unsettled passes and saves them`));
  } else if (flags.save !== undefined) {
    await writeOutput(flags.save, formatJson(createConfig(report, run, href)));
  }
  const isChanged = changes?.some(({ fails }) => fails) === true;
  const failed = reportsViolation(report) || isChanged || wanted !== undefined;
  const exitCode = failed ? EXIT_GATE_FAILED : 0;
  return { text: renderCheck(report, changes, run.notes, style), json: report, exitCode };
};

async function readEarlier(file: string): Promise<EarlierCheck> {
  const text = await readTextFile(file, '--against', 'a JSON file');
  const parsed = readJson(`--against: ${file}`, text);
  if (!parsed.ok) throw new UsageError(parsed.problems.map(formatProblem).join('\n'));
  const earlier = readEarlierCheck(parsed.value);
  if (earlier !== undefined) return earlier;
  throw refusal('--against', `a file from check --save or --json at ${file}`, 'other JSON');
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
  const lines = [
    ...assumptions.map(({ id, verdict, option = verdictText(verdict), why }) => {
      return { topic: assumptionTopic(id), name: id, verdict, text: option, why };
    }),
    ...replies.map(({ operation, status, verdict, differences = [], why }) => {
      const found = differences.map((each) => `${each.exchange}: ${deviationText(each)}`);
      const reasons = [...found, ...(why === undefined ? [] : [why])].join('; ');
      const name = `${operation} ${status}`;
      return {
        topic: 'Documented replies',
        name,
        verdict,
        text: verdictText(verdict),
        why: reasons,
      };
    }),
  ];
  const tables = [...new Set(lines.map(({ topic }) => topic))].map((title) => {
    const rows = lines.flatMap(({ topic, name, verdict, text, why = '' }) => {
      const shown = paint(text, TONES[verdict], style);
      return topic === title ? [[name, shown, escapeControls(why)]] : [];
    });
    return renderSection(title, rows, style);
  });
  if (changes !== undefined) {
    const texts = changes.length > 0 ? changes.map(formatChange) : ['none'];
    const rows = texts.map((text) => [escapeControls(text)]);
    tables.push(renderSection('Changes', rows, style));
  }
  const summary = [
    ...notes,
    countVerdicts('assumption', assumptions, ['settled', 'none-of-the-options', 'open']),
    countVerdicts('reply', replies, ['as-documented', 'different', 'not-tried']),
  ];
  return [...tables, summary.map((line) => `${escapeControls(line)}\n`).join('')].join('\n');
}

function countVerdicts<V extends string>(
  what: 'assumption' | 'reply',
  all: readonly { readonly verdict: V }[],
  names: readonly V[],
): string {
  const counts = names.map((name) => {
    const { length } = all.filter(({ verdict }) => verdict === name);
    return `${length} ${verdictText(name)}`;
  });
  return `${countText(all.length, what, what === 'reply' ? 'replies' : undefined)}: ${counts.join(', ')}`;
}

function formatChange({ subject, before, after, why }: CheckChange): string {
  const reason = why === undefined ? '' : `: ${why}`;
  return `${subject}: ${before} before, ${after} now${reason}`;
}

function renderPlan(plan: ReturnType<typeof planCheck>, { width }: Style): string {
  const rows = plan.map(({ request, times, why }, at) => {
    return [String(at + 1), request, `${why}${times > 1 ? `, ${times} times` : ''}`];
  });
  return renderTable(rows, { width, columns: [String(plan.length).length, 46] });
}
