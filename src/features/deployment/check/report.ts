import {
  ASSUMPTION_IDS,
  type AssumptionId,
  DOCUMENTED_REPLIES,
} from '../../../core/contract/assumption-table.ts';
import { distinct, isViolation } from '../../../core/contract/check-reply.ts';
import { joinWords } from '../../../core/words.ts';
import type { DeploymentFlags } from '../flags.ts';
import { describeEvidence, Explainer } from './explain.ts';
import type { Fit } from './fit.ts';
import type { AssumptionVerdict, ReplyVerdict } from './saved-verdicts.ts';
import { type FitVerdict, judgeAssumptions } from './verdicts.ts';
import { type Difference, findDifferences, type ReplyName } from './violations.ts';

export interface CheckReport {
  readonly assumptions: readonly AssumptionVerdict[];
  readonly replies: readonly ReasonedVerdict[];
}

interface ReasonedVerdict extends ReplyVerdict {
  readonly differences?: readonly Difference[];
  /** Why no reply could be judged, though a request was sent. */
  readonly why?: string;
}

/** The report: a verdict with reasons for each assumption and each documented reply. */
export function createReport(fit: Fit, flags: DeploymentFlags): CheckReport {
  const explainer = new Explainer(fit, flags);
  const verdicts = [...judgeAssumptions(fit)];
  return {
    assumptions: verdicts.map(([id, verdict]) => reportAssumption(id, verdict, explainer)),
    replies: reportReplies(fit, explainer),
  };
}

/** How many exchanges that prove a verdict the report shows. */
const MAX_SHOWN = 2;

function reportAssumption(
  id: AssumptionId,
  { verdict, option, evidence, instead }: FitVerdict,
  explainer: Explainer,
): AssumptionVerdict {
  const shown = describeEvidence(evidence, MAX_SHOWN);
  if (verdict === 'settled') return { id, verdict, option, why: shown };
  if (instead === undefined) return { id, verdict, why: `found ${shown}` };
  const ids = ASSUMPTION_IDS.filter((each) => each === id || each in instead);
  const others = ids.map((each) => `${each}=${instead[each]}`);
  const same = `${joinWords(others, 'and')} would answer the same: ${shown}`;
  const why = explainer.whyOpen(ids) || (shown === '' ? 'no reply shows it' : same);
  return { id, verdict, why };
}

const nameOf = ({ operation, status }: ReplyName) => `${operation} ${status}`;

function reportReplies(fit: Fit, explainer: Explainer): ReasonedVerdict[] {
  const found = findDifferences(fit);
  const exchanges = fit.observations.flatMap(({ runs }) => runs.flatMap((run) => run.exchanges));
  const seen = new Set(exchanges.map((it) => it && `${it.probe.operation} ${it.reply.status}`));
  const replies = new Map(
    [...DOCUMENTED_REPLIES, ...found.filter(isViolation)].map(({ operation, status }) => {
      return [nameOf({ operation, status }), { operation, status }];
    }),
  );
  return Array.from(replies, ([name, reply]): ReasonedVerdict => {
    const own = found.filter((each) => nameOf(each) === name);
    const differences = distinct(own).map(({ operation: _, status: __, ...each }) => each);
    const known = { ...reply, ...(differences.length > 0 && { differences }) };
    if (differences.some(isViolation)) return { ...known, verdict: 'different' };
    if (seen.has(name)) return { ...known, verdict: 'as-documented' };
    const why = explainer.whyNotTried(reply);
    return { ...known, verdict: 'not-tried', ...(why !== '' && { why }) };
  });
}

/** The share of assumptions that a check must settle for its report to mean anything. */
const MIN_SETTLED_SHARE = 1 / 4;

export function findShortfall({ assumptions }: CheckReport): number | undefined {
  const wanted = Math.ceil(assumptions.length * MIN_SETTLED_SHARE);
  const { length } = assumptions.filter(({ verdict }) => verdict === 'settled');
  return length < wanted ? wanted : undefined;
}

export function reportsViolation({ replies }: CheckReport): boolean {
  return replies.some(({ differences = [] }) => differences.some(isViolation));
}
