import { ASSUMPTION_IDS, type Choices } from '../../../core/contract/assumption-table.ts';
import {
  ASSUMPTION_NOTE,
  type AssumptionNote,
  COUNT,
  OPERATION,
} from '../../../core/sandbox/report-shapes.ts';
import { object, optional, required } from '../../../core/shape/objects.ts';
import { choice, list, type ValueOf } from '../../../core/shape/shapes.ts';

const { deployment, at, option, why } = ASSUMPTION_NOTE.members;

const VERDICT = object({
  id: required(choice(ASSUMPTION_IDS), 'Its id.'),
  verdict: required(choice(['settled', 'none-of-the-options', 'open']), 'What was found out.'),
  option,
  why,
});

export type AssumptionVerdict = ValueOf<typeof VERDICT>;

const REPLY_VERDICT = object({
  operation: required(OPERATION, 'The operation.'),
  status: required(COUNT, 'The status of the reply.'),
  verdict: required(choice(['as-documented', 'different', 'not-tried']), 'What was found out.'),
});

export type ReplyVerdict = ValueOf<typeof REPLY_VERDICT>;

/** What `check --save` writes besides options. */
export const SAVED_VERDICTS = object({
  deployment,
  at,
  assumptions: required(list(VERDICT), 'The verdicts.'),
  replies: optional(list(REPLY_VERDICT), 'The verdicts on documented replies.'),
});

export type SavedVerdicts = ValueOf<typeof SAVED_VERDICTS>;

export function createNotes({ assumptions, deployment, at }: SavedVerdicts) {
  return new Map(
    assumptions.map(({ id, ...verdict }): [string, AssumptionNote] => [
      id,
      { deployment, at, ...verdict },
    ]),
  );
}

const MAX_CLOCK_DIFFERENCE_MS = 10 * 60 * 1000;

interface CheckToSave {
  readonly report: {
    readonly assumptions: readonly AssumptionVerdict[];
    readonly replies: readonly ReplyVerdict[];
  };
  /** The deployment's time, in milliseconds since 1970. */
  readonly clock: number;
}

/** A config file that makes a mock answer like the deployment, as far as that was settled. */
export function createConfig(
  { report: { assumptions, replies }, clock }: CheckToSave,
  deployment: string,
  now = Date.now(),
) {
  const settled = assumptions.flatMap(({ id, option }) => (option ? [[id, option]] : []));
  const assume: Partial<Choices> = Object.fromEntries(settled);
  return {
    assume,
    ...(Math.abs(clock - now) < MAX_CLOCK_DIFFERENCE_MS
      ? {}
      : { clock: new Date(clock).toISOString() }),
    checked: {
      deployment,
      at: new Date(now).toISOString(),
      assumptions,
      replies: replies.map(({ operation, status, verdict }) => ({ operation, status, verdict })),
    },
  };
}
