import type { ASSUMPTIONS, AssumptionId } from '../../contract/assumption-table.ts';
import type { Deviation } from '../deployment-reply.ts';
import type { CheckRequest, CheckTranscript, ProbeReply } from './check-transcript.ts';
import type { QuestionName } from './question-names.ts';

/** What a check may do, and what the user says about the deployment, by the names of the flags. */
export interface CheckOptions {
  readonly writes?: boolean | undefined;
  readonly cancel?: readonly bigint[] | undefined;
  readonly shipped?: readonly bigint[] | undefined;
  readonly cancelled?: readonly bigint[] | undefined;
  /** The first of each is used. */
  readonly readOnlyKey?: readonly string[] | undefined;
  readonly invalidKey?: readonly string[] | undefined;
  readonly rate?: number | undefined;
}

/** Derives something from what a check has received. */
type Look<T> = (check: CheckTranscript) => T;

/** A question to a deployment: what it sends, what it needs, what it judges and what it settles. */
export type Question = CheckRequest & QuestionDetails;

/** What a question is besides its request. */
export type QuestionDetails = Expectation & (Settlement | { readonly settles?: undefined });

/** Questions of a topic. */
export type QuestionTable = Readonly<Partial<Record<QuestionName, Question>>>;

interface Expectation {
  /** Something that only the deployment can provide, such as an id. */
  readonly needs?: Need;
  /** Whether an assumption explains another status than the one that the document prescribes. */
  readonly excuse?: (reply: ProbeReply, check: CheckTranscript) => boolean;
  readonly rules?: readonly DocumentRule[];
  /** Whether its reply shows all effects of earlier writes. A read that does not is repeated later. */
  readonly isShown?: Look<boolean>;
  /** Whether the document says that there is such an effect. */
  readonly isPromised?: true;
}

export interface Need {
  /** Stands in a path until it is known. */
  readonly description: string;
  /** The question whose reply it follows from. */
  readonly after?: QuestionName;
  readonly find: (check: CheckTranscript, options: CheckOptions) => bigint | string | undefined;
}

type OptionOf<Id extends AssumptionId> = (typeof ASSUMPTIONS)[Id]['options'][number]['name'];

/** How replies settle an assumption. */
export type Settlement = { readonly [Id in AssumptionId]: SettlementOf<Id> }[AssumptionId];

interface SettlementOf<Id extends AssumptionId> {
  readonly settles: Id;
  /** The questions whose status or headers settle it; by default the one that has this row. */
  readonly by?: readonly QuestionName[];
  /** Whether a reply to one of them is enough. */
  readonly any?: true;
  /** The questions whose records settle it. */
  readonly from?: readonly QuestionName[];
  /** Questions that make the verdict more certain, if they can be asked. */
  readonly also?: readonly QuestionName[];
  /** Why the replies cannot settle it, if so. */
  readonly obstacle?: Look<string | false | undefined>;
  /** What the replies show: options, or something else in words. By default their statuses. */
  readonly values?: Look<readonly string[]>;
  /** Why there is no value although the questions were answered. */
  readonly nothing?: string;
  /** What every value or every reply is like under an option; by default a value names its option. */
  readonly options?: Readonly<Record<OptionOf<Id>, Form>>;
}

/** What a value or a reply is like. */
export type Form = RegExp | ((reply: ProbeReply, check: CheckTranscript) => boolean);

/** How a reply breaks a rule of the document that is not about the shape of its records. */
export type DocumentRule = (reply: ProbeReply, check: CheckTranscript) => readonly Deviation[];
