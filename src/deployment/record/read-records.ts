import { parseJson } from '../../contract/json.ts';
import {
  type Fields,
  isObject,
  type Problem,
  RECORDS,
  type RecordOf,
} from '../../contract/records.ts';
import { readRecord } from '../../shape/record-shapes.ts';
import { cut, describe, firstProblems, problemText } from '../../words.ts';
import { DeploymentError, type DeploymentReply } from '../deployment-client.ts';

/** A record, and all members that the deployment showed of it. */
export interface RecordWithMembers<R> {
  readonly record: R;
  readonly members: Readonly<Record<string, unknown>>;
}

/**
 * Reads the list of records in a reply.
 *
 * @throws DeploymentError for another status than 200, and for any other body
 */
export function readList<const F extends Fields>(
  fields: F,
  path: string,
  reply: DeploymentReply,
): RecordWithMembers<RecordOf<F>>[] {
  const values = bodyOf(path, reply);
  if (!Array.isArray(values)) {
    throw new DeploymentError(`GET ${path}: expected an array, found ${describe(values)}`);
  }
  const problems: Problem[] = [];
  const read = values.flatMap((value: unknown, index) => {
    return readRecordWithMembers(fields, value, `$[${index}]`, problems) ?? [];
  });
  if (problems.length > 0) throw wrongRecords(path, problems);
  return read;
}

function readRecordWithMembers<const F extends Fields>(
  fields: F,
  value: unknown,
  place: string,
  problems: Problem[],
): RecordWithMembers<RecordOf<F>> | undefined {
  const members = isObject(value) ? withoutNulls(fields, value) : {};
  const reading = readRecord(fields, isObject(value) ? members : value, place);
  if (reading.ok) return { record: reading.value, members };
  problems.push(...reading.problems);
  return undefined;
}

/** Problems with the body of a reply, each with its place. */
function wrongRecords(path: string, problems: readonly Problem[]): DeploymentError {
  const textOf = (it: Problem) => problemText({ ...it, place: `GET ${path}` });
  return new DeploymentError(firstProblems(problems, textOf).join('\n'));
}

/** Some deployments write null for an optional field without a value. */
function withoutNulls(
  fields: Fields,
  value: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const isAbsent = (name: string, member: unknown) =>
    member === null && fields[name]?.required !== true;
  return Object.fromEntries(Object.entries(value).filter((member) => !isAbsent(...member)));
}

function bodyOf(path: string, { status, body }: DeploymentReply): unknown {
  const text = body.toString();
  if (status !== 200) {
    throw new DeploymentError(`GET ${path}: expected 200, found ${status}${reasonIn(text)}`);
  }
  const value = jsonIn(text);
  if (value !== undefined) return value;
  throw new DeploymentError(`GET ${path}: expected JSON, found ${describe(text)}`);
}

/** The most characters of an Error's code and message that a message repeats. */
const LONGEST_REASON = 200;

function reasonIn(text: string): string {
  const error = readRecord(RECORDS.Error, jsonIn(text));
  if (error.ok) return `: ${cut(`${error.value.code}: ${error.value.message}`, LONGEST_REASON)}`;
  return text === '' ? '' : `: ${describe(text)}`;
}

function jsonIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
