import type { ASSUMPTIONS, AssumptionId } from '../../contract/assumption-table.ts';
import type { CheckTranscript, Look, ProbeReply, RequestName } from './check-transcript.ts';

type OptionOf<Id extends AssumptionId> = (typeof ASSUMPTIONS)[Id]['options'][number]['name'];

interface Requests {
  /** The requests whose status or headers settle it. */
  readonly by?: readonly RequestName[];
  /** Whether one of them is enough. */
  readonly any?: true;
  /** The requests whose records settle it. */
  readonly from?: readonly RequestName[];
  /** Requests that make the verdict more certain, if they can be sent. */
  readonly also?: readonly RequestName[];
  /** Why the replies cannot settle it, if so. */
  readonly obstacle?: Look<string | false | undefined>;
}

/** Settled by the option that every reply to `by` matches. */
interface ByReplies<Option extends string> extends Requests {
  readonly options: Readonly<
    Record<Option, (reply: ProbeReply, check: CheckTranscript) => boolean>
  >;
}

/** Settled by the option that every value in the replies matches; open if there is none. */
interface ByValues<Option extends string> extends Requests {
  readonly values: Look<readonly string[]>;
  /** What the values are, in words. */
  readonly what: string;
  /** Why there is no value although the requests were answered. */
  readonly nothing?: string;
  readonly options: Readonly<Record<Option, RegExp>>;
  /** A value that is an option itself, such as a rate. */
  readonly other?: RegExp;
}

/** How a check settles an assumption. */
export type Question<Option extends string = string> = ByReplies<Option> | ByValues<Option>;

/** A question for each of some assumptions. */
export type Questions<Id extends AssumptionId> = {
  readonly [Each in Id]: Question<OptionOf<Each>>;
};

/** The requests that a question is judged by. */
export function requestsOf({ by = [], from = [], also = [] }: Question): readonly RequestName[] {
  return [...from, ...by, ...also];
}

/** What the replies to a question's requests show. */
export interface Answer {
  /** The options that they match. */
  readonly options: readonly string[];
  /** In words; by default the requests with their statuses. */
  readonly shown?: string;
  /** Why they cannot settle it. */
  readonly obstacle?: string | undefined;
}

export function answerTo(question: Question, check: CheckTranscript): Answer {
  const obstacle = question.obstacle?.(check);
  if (obstacle) return { options: [], obstacle };
  if (!('values' in question)) {
    const replies = check.all(...(question.by ?? question.from ?? []));
    return { options: matching(question.options, (it) => replies.every((r) => it(r, check))) };
  }
  const { values: valuesIn, what, nothing, options, other } = question;
  const values = [...new Set(valuesIn(check))];
  const shown = `${what} ${values.slice(0, 5).join(', ')}`;
  if (values.length === 0 && nothing !== undefined) return { options: [], obstacle: nothing };
  const [value = '', another] = values;
  if (another === undefined && other?.test(value)) return { options: [value], shown };
  return { options: matching(options, (form) => values.every((it) => form.test(it))), shown };
}

function matching<T>(options: Readonly<Record<string, T>>, holds: (option: T) => boolean) {
  return Object.entries(options).flatMap(([name, option]) => (holds(option) ? [name] : []));
}

export const accepted = (reply: ProbeReply): boolean => reply.accepted;

/** The input is refused. */
export const refused = (reply: ProbeReply): boolean => reply.refused;

/** The reply has this status. */
export function status(expected: number) {
  return (reply: ProbeReply): boolean => reply.status === expected;
}
