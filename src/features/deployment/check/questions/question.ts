import type { ASSUMPTIONS, AssumptionId } from '../../../../core/contract/assumption-table.ts';
import { type OperationId, operationShape } from '../../../../core/contract/operations.ts';
import { describe } from '../../../../core/words.ts';
import { type Deviation, type ReplyRecord, readIds, unless } from '../../deployment-reply.ts';
import type { CheckRequest, CheckTranscript, ProbeReply } from '../check-transcript.ts';
import type { QuestionName } from './names.ts';

/** By the names of the flags. */
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

type FromCheck<T> = (check: CheckTranscript) => T;

export type Question = CheckRequest & QuestionDetails;

type QuestionDetails = Expectation & (Settlement | { readonly settles?: undefined });

export type QuestionTable = Readonly<Partial<Record<QuestionName, Question>>>;

interface Expectation {
  /** Something that only the deployment can provide, such as an id. */
  readonly needs?: Need;
  readonly spares?: (check: CheckTranscript, order: bigint) => string | undefined;
  /** Whether an assumption explains another status than the prescribed one. */
  readonly excuse?: (reply: ProbeReply, check: CheckTranscript) => boolean;
  /** A rule that compares with the list of `compares` finds it in `reply.beside`. */
  readonly rules?: readonly DocumentRule[];
  /** The list that its reply is compared with. If they disagree, both are read again. */
  readonly compares?: QuestionName;
  /** Whether its reply shows the effects of earlier writes that the document prescribes. */
  readonly isShown?: (reply: ProbeReply, check: CheckTranscript) => boolean;
  /** Whether it shows the effects that only an option has. */
  readonly isAffected?: FromCheck<boolean>;
}

export interface Need {
  /** Stands in a path until it is known. */
  readonly description: string;
  readonly after?: QuestionName;
  readonly find: (check: CheckTranscript, options: CheckOptions) => bigint | string | undefined;
}

type OptionOf<Id extends AssumptionId> = (typeof ASSUMPTIONS)[Id]['options'][number]['name'];

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
  readonly obstacle?: FromCheck<string | false | undefined>;
  /** What the replies show: options, or something else in words. By default their statuses. */
  readonly values?: FromCheck<readonly string[]>;
  /** Why there is no value although the questions were answered. */
  readonly nothing?: string;
  /** What every value or every reply is like under an option; by default a value names its option. */
  readonly options?: Readonly<Record<OptionOf<Id>, OptionForm>>;
}

export type OptionForm = RegExp | ((reply: ProbeReply, check: CheckTranscript) => boolean);

/** How a reply breaks a rule of the document that is not about the shape of its records. */
export type DocumentRule = (reply: ProbeReply, check: CheckTranscript) => readonly Deviation[];

export const SENT_ID = 7_777_777_777_777_777n;

export type QuestionMembers = Partial<CheckRequest> & QuestionDetails;

/** @param query appended to the operation's path, in which braces stand for an id */
export function call(
  operation: OperationId,
  query: string,
  why: string,
  more: QuestionMembers = {},
): Question {
  const { method, path } = operationShape(operation);
  return { operation, method, path: path.replace(/\{\w+\}/, '{}') + query, why, ...more };
}

export const askPets = (query: string, why: string, more?: QuestionMembers) =>
  call('listPets', query, why, more);
export const readPet = (needs: Need, why: string, more?: QuestionMembers) =>
  call('getPet', '', why, {
    needs,
    excuse: ({ status }, check) => (status === 410 || status === 404) && check.hasPassedSunset,
    ...more,
  });
export const askInventory = (why: string, more?: QuestionMembers) =>
  call('listInventory', '', why, more);
export const askOrders = (query: string, why: string, more?: QuestionMembers) =>
  call('listOrders', query, why, more);

export const NO_KEY = { key: 'none', status: 401 } as const;

export function unusedId(used: readonly bigint[]): bigint {
  let id = SENT_ID + 1n;
  while (used.includes(id)) id += 1n;
  return id;
}

export const accepted = (reply: ProbeReply): boolean => reply.accepted;

export const refused = (reply: ProbeReply): boolean => reply.refused;

export function status(expected: number) {
  return (reply: ProbeReply): boolean => reply.status === expected;
}

export function compareFields(
  found: ReplyRecord | undefined,
  expected: ReplyRecord | undefined,
  fields = Object.keys(expected ?? {}),
): readonly Deviation[] {
  return fields.flatMap((field) => {
    const [is, wanted] = [found?.[field], expected?.[field]];
    const holds = found === undefined || String(is ?? '') === String(wanted ?? '');
    return unless(holds, `$.${field}`, describe(wanted), describe(is));
  });
}

export function uniqueIds(field: string): DocumentRule {
  return ({ records }) => {
    const seen = new Set<bigint>();
    const twice = readIds(records, field).find((id) => seen.has(id) || !seen.add(id));
    return unless(twice === undefined, `$[].${field}`, 'each once', `${twice} twice`);
  };
}

/** A body without a required field, or with one of another type, is not accepted. */
export function refuses(field: string): readonly [DocumentRule] {
  return [
    ({ accepted, status, question }) => {
      const found = `${status} for ${question.why}`;
      return unless(!accepted, `$.${field}`, 'a refusal', found, 'field');
    },
  ];
}
