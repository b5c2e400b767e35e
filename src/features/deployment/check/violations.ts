import { DOCUMENTED_REPLIES } from '../../../core/contract/assumption-table.ts';
import { checkBody, type Deviation } from '../../../core/contract/check-reply.ts';
import type { OperationId } from '../../../core/contract/operations.ts';
import { describe } from '../../../core/words.ts';
import { UNKNOWN_WORD } from '../deployment-reply.ts';
import { type Evidence, type Fit, isAsPredicted } from './fit.ts';
import type { Observation, Prediction } from './predict.ts';
import { describeExchange } from './probe-sender.ts';
import { PROMISED } from './promises.ts';
import type { ProbeExchange } from './sequence-run.ts';

export interface ReplyName {
  readonly operation: OperationId;
  readonly status: number;
}

/** A deviation of a reply from the document. */
export interface Difference extends Deviation {
  /** The request and its status, in a form to repeat with curl. */
  readonly exchange: string;
}

type Found = ReplyName & Difference;

/** Everything that deviates from the document, whatever options the deployment has. */
export function findDifferences(fit: Fit): readonly Found[] {
  const broken = fit.observations.flatMap((observation) => listBroken(fit, observation));
  return [...broken.flatMap(describeBroken), ...fit.observations.flatMap(compareBodies)];
}

/** The facets that are the same under every option, but different on the deployment. */
function listBroken(fit: Fit, observation: Observation): Evidence[] {
  const best = fit.predict(observation);
  const broken: Evidence[] = [];
  for (const [at, seen] of observation.seen.entries()) {
    for (const [facet, found] of Object.entries(seen)) {
      const expected = best.facets[at]?.[facet];
      if (expected === undefined || expected === found) continue;
      const evidence = { observation, at, facet, found, expected };
      const isBroken =
        facet === 'status'
          ? isPrescribed(observation, best, at) && !fit.isPossible(evidence)
          : PROMISED.has(facet) && isPromised(fit, evidence);
      if (isBroken) broken.push(evidence);
    }
    if (!isAsPredicted(observation, best, at)) break;
  }
  return broken;
}

/** Whether the document prescribes the status, or forbids that the request was accepted. */
function isPrescribed({ sequence, seen }: Observation, best: Prediction, at: number): boolean {
  const { operation, isOnce } = sequence.probes[at] ?? {};
  const found = seen[at]?.status ?? '';
  // The order that the user named may not be cancellable.
  if (isOnce === true && /^40[49]$/.test(found)) return false;
  return best.isDocumented[at] === true || (operation !== undefined && found.startsWith('2'));
}

/** Whether all options that lead to this reply agree on the facet. */
function isPromised(fit: Fit, { observation, at, facet, expected }: Evidence): boolean {
  return fit.predictAll(observation).every((prediction) => {
    const before = observation.seen.slice(0, at);
    const isLed = before.every((_, index) => isAsPredicted(observation, prediction, index));
    const { status, [facet]: other = expected } = prediction.facets[at] ?? {};
    return !isLed || status !== observation.seen[at]?.status || other === expected;
  });
}

/** The exchange of a probe in the first round that has one. */
export function exchangeOf({ runs }: Observation, at: number): ProbeExchange | undefined {
  return runs.flatMap(({ exchanges }) => exchanges[at] ?? [])[0];
}

function describeBroken({ observation, at, facet, found, expected }: Evidence): Found[] {
  const first = exchangeOf(observation, at);
  const operation = first?.probe.operation;
  if (first === undefined || operation === undefined) return [];
  const exchange = describeExchange(first);
  if (facet !== 'status') {
    // The two rounds create different animals, so name the first one's id.
    const name = facet.replace('NEW', `${observation.runs[0]?.idOf('NEW')}`);
    const { status } = first.reply;
    return [{ where: 'value', at: name, expected, found, operation, status, exchange }];
  }
  const isDocumented = DOCUMENTED_REPLIES.some((reply) => {
    return reply.operation === operation && `${reply.status}` === expected;
  });
  const status = Number(isDocumented ? expected : found);
  return [{ where: 'status', expected, found, operation, status, exchange }];
}

/** What the document does not allow in the bodies of both rounds. */
function compareBodies({ sequence, runs }: Observation): Found[] {
  return sequence.probes.flatMap(({ operation }, at) => {
    const exchanges = runs.flatMap((run) => run.exchanges[at] ?? []);
    const [first, last] = exchanges;
    if (operation === undefined || first === undefined || last === undefined) return [];
    const [once = [], again = []] = exchanges.map(({ reply, json }) => {
      return checkBody({ ...reply, json }, operation);
    });
    const { status } = first.reply;
    const exchange = describeExchange(first);
    return once.flatMap((difference) => {
      const { where, at: place, found } = difference;
      const isOwn = where === 'new value' && found === describe(UNKNOWN_WORD);
      const isSame = again.some((other) => other.where === where && other.at === place);
      return isSame && !isOwn ? { ...difference, operation, status, exchange } : [];
    });
  });
}
