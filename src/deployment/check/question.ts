import type { ASSUMPTIONS, AssumptionId } from '../../contract/assumption-table.ts';
import type { CheckTranscript, Look } from './check-transcript.ts';
import type { ProbeReply, RequestName } from './probe-reply.ts';

type OptionOf<Id extends AssumptionId> = (typeof ASSUMPTIONS)[Id]['options'][number]['name'];

interface Common {
  /** The requests that settle it. */
  readonly by: readonly RequestName[];
  /** Whether one of them is enough. */
  readonly any?: true;
  /** Requests that make the verdict more certain, if they can be sent. */
  readonly also?: readonly RequestName[];
  /** Why the replies cannot settle it; undefined if they can. */
  readonly obstacle?: Look<string | undefined>;
  /** What the replies show, in words; by default the requests with their statuses. */
  readonly saw?: Look<string>;
}

/** Settled by the option that every reply matches. */
interface ByReplies<Option extends string> extends Common {
  readonly reply: Readonly<Record<Option, (reply: ProbeReply) => boolean>>;
}

/** Settled by the option that every value in the replies matches; open if there is none. */
interface ByValues<Option extends string> extends Common {
  readonly values: Look<readonly unknown[]>;
  /** What the values are, in words. */
  readonly what: string;
  /** Why there is no value although the requests were answered. */
  readonly nothing?: Look<string>;
  readonly value: Readonly<Record<Option, RegExp | ((value: unknown) => boolean)>>;
}

/** Settled by the option that all replies together match. */
interface ByAll<Option extends string> extends Common {
  readonly all: Readonly<Record<Option, Look<boolean>>>;
  /** An option that is not listed, such as a rate. */
  readonly other?: Look<string | undefined>;
}

/** How a check settles an assumption. */
export type Question<Option extends string = string> =
  | ByReplies<Option>
  | ByValues<Option>
  | ByAll<Option>;

/** A question for each of some assumptions. */
export type Questions<Id extends AssumptionId> = {
  readonly [Each in Id]: Question<OptionOf<Each>>;
};

/** Why the replies cannot settle a question; undefined if they can. */
export function obstacleTo(question: Question, check: CheckTranscript): string | undefined {
  const why = question.obstacle?.(check);
  if (why !== undefined || !('values' in question)) return why;
  return question.values(check).length === 0 ? question.nothing?.(check) : undefined;
}

/** The options that the replies match. */
export function matchingOptions(question: Question, check: CheckTranscript): string[] {
  const names = namesIn(question, check);
  const other = 'other' in question && names.length === 0 ? question.other?.(check) : undefined;
  return other === undefined ? names : [other];
}

function namesIn(question: Question, check: CheckTranscript): string[] {
  if ('all' in question) {
    return matching(question.all, (isMatched) => isMatched(check));
  }
  if ('reply' in question) {
    const replies = check.all(...question.by);
    return matching(question.reply, (isMatched) => replies.every(isMatched));
  }
  const values = question.values(check);
  return matching(question.value, (form) =>
    values.every((value) =>
      form instanceof RegExp ? form.test(String(value ?? '')) : form(value),
    ),
  );
}

function matching<T>(options: Readonly<Record<string, T>>, holds: (option: T) => boolean) {
  return Object.entries(options).flatMap(([name, option]) => (holds(option) ? [name] : []));
}

/** What the replies show, in words; undefined for no more than their statuses. */
export function shownBy(question: Question, check: CheckTranscript): string | undefined {
  if (question.saw !== undefined || !('values' in question)) return question.saw?.(check);
  return `${question.what} ${distinct(question.values(check))}`;
}

/** The first of different values, for a message. */
function distinct(values: readonly unknown[]): string {
  const texts = values.map((it) => (it === undefined ? 'absent' : String(it)));
  return [...new Set(texts)].slice(0, 5).join(', ');
}

export const accepted = (reply: ProbeReply): boolean => reply.accepted;

/** The input is refused. */
export const refused = (reply: ProbeReply): boolean => reply.refused;

/** The reply has this status. */
export function status(expected: number) {
  return (reply: ProbeReply): boolean => reply.status === expected;
}

/** Why there is no value to judge by: what a list is instead, or what all of them lack. */
export function nothingIn(lists: readonly RequestName[], why: string): Look<string> {
  return (check) => check.whyNoList(...lists) ?? why;
}

/** Why a request got another status than the one that others build on. */
export function unless(name: RequestName, expected: number): Look<string | undefined> {
  return (check) => (check.status(name) === expected ? undefined : check.whyUnknown(name));
}
