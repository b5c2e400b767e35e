import { readJson } from '../../contract/json.ts';
import { type CheckOptions, planCheck } from '../../deployment/check-plan.ts';
import { checkReport, isBroken } from '../../deployment/check-report.ts';
import { SAFE } from '../../deployment/deployment-client.ts';
import { DEPLOYMENT_DEFAULTS } from '../../deployment/deployment-defaults.ts';
import { runCheck } from '../../deployment/run-check.ts';
import {
  changesSince,
  type EarlierCheck,
  earlierCheck,
  savedConfig,
} from '../../deployment/saved-check.ts';
import { readText, SETTINGS_LIMIT } from '../../read-text.ts';
import { counted } from '../../words.ts';
import { askConsent, connect, keyOf, workWith } from '../deployment/connection.ts';
import { UsageError } from '../failures.ts';
import type { Flags } from '../flags.ts';
import { refusal } from '../input/given.ts';
import { notice } from '../output/escaped.ts';
import { changeText, renderPlan, reportOfCheck } from '../output/render-check.ts';
import { renderReport } from '../output/render-report.ts';
import { jsonText, writeReport, writeReports } from '../output/write-report.ts';
import { type Command, EXIT_GATE_FAILED } from './command.ts';

/** Checks a deployment: what the document leaves open, and what it prescribes. */
export const check: Command = async ({ positionals: [url], terminal, ...settings }) => {
  const { flags } = settings;
  const { style } = terminal;
  const client = await connect(url, settings);
  const options = optionsOf(flags);
  const plan = planCheck(options);
  if (flags.dryRun) return { text: renderPlan(plan, style), json: plan, exitCode: 0 };
  const earlier = flags.against === undefined ? undefined : await earlierIn(flags.against);
  const requests = plan.reduce((sum, { times }) => sum + times, 0);
  const writing = plan.filter(({ method }) => !SAFE.test(method)).length;
  const changing = writing === 0 ? 'none of which write' : `${writing} of which write`;
  const told = `up to ${counted(requests, 'request')}, ${changing}, and repeats of reads that fail or show no effect`;
  await askConsent(client.url, told, flags.yes, terminal);
  const keys = [keyOf(settings), ...(flags.readOnlyKey ?? []), ...(flags.invalidKey ?? [])];
  const transcript = await workWith(client, 'check', keys, terminal, (progress) =>
    runCheck(client, options, (text, share) => progress(`${Math.floor(share * 100)}% ${text}`)),
  );
  const report = checkReport(transcript, keys);
  const changes = earlier && changesSince(earlier, report, flags.allowUnsettled ?? false);
  const { href } = client.url;
  const result = reportOfCheck({ url: href, report, changes });
  writeReports(result, flags);
  if (flags.json) for (const it of changes ?? []) terminal.notices.write(notice(changeText(it)));
  if (flags.save !== undefined) {
    writeReport('--save', flags.save, jsonText(savedConfig(report, transcript, href)));
  }
  const failed = isBroken(report) || changes?.some(({ fails }) => fails) === true;
  const exitCode = failed ? EXIT_GATE_FAILED : 0;
  return { text: renderReport(result, style), json: result.document, exitCode };
};

function optionsOf(flags: Flags): CheckOptions {
  const { writes = false, cancel = [], shipped = [], cancelled = [] } = flags;
  return {
    writes,
    orders: { cancel, shipped, cancelled },
    readOnlyKey: flags.readOnlyKey?.[0],
    invalidKey: flags.invalidKey?.[0],
    rate: flags.rate ?? DEPLOYMENT_DEFAULTS.rate,
  };
}

/** Reads the verdicts of an earlier check. */
async function earlierIn(file: string): Promise<EarlierCheck> {
  const read = await readText(file, SETTINGS_LIMIT);
  if (!read.ok) throw refusal('--against', `a JSON file at ${file}`, read.found);
  const parsed = readJson(file, read.text);
  if (!parsed.ok) throw new UsageError(`--against: ${parsed.problem}`);
  const earlier = earlierCheck(parsed.value);
  if (earlier !== undefined) return earlier;
  throw refusal('--against', `a file from check --save or --json at ${file}`, 'other JSON');
}
