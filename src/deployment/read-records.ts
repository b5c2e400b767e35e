import { OPERATIONS } from '../contract/operations.ts';
import {
  type Animal,
  type Fields,
  isObject,
  type Problem,
  RECORDS,
  type RecordOf,
} from '../contract/records.ts';
import { headerOf } from '../http/raw-headers.ts';
import { readRecord } from '../shape/record-shapes.ts';
import { describe, firstProblems, problemText } from '../words.ts';
import { DeploymentError } from './deployment-client.ts';
import { type DeploymentReply, jsonOf, nextQuery } from './reply-parts.ts';

/** Sends a GET to a path under the base URL. */
export type Get = (path: string) => Promise<DeploymentReply>;

const [LIMIT] = OPERATIONS.listPets.parameters;

/** A million animals: a deployment that draws its animals links pages without end. */
const MOST_PAGES = 10_000;

/** Statuses for a parameter that a deployment does not accept. */
const REFUSALS: readonly number[] = [400, 404, 410, 422];

/**
 * Lists the animals of a deployment. The document does not say how to request the next page: this
 * follows `Link`, and otherwise tries `offset`.
 *
 * @returns the animals by id, and what may be missing
 */
export async function listAnimals(
  get: Get,
): Promise<{ animals: ReadonlyMap<bigint, RecordWithMembers<Animal>>; gaps: readonly string[] }> {
  const animals = new Map<bigint, RecordWithMembers<Animal>>();
  const first = `/pets?limit=${LIMIT.maximum}`;
  let [path, count, isWhole, wasLinked] = [first, 0, false, false];
  let total: number | undefined;
  for (let pages = 0; ; pages += 1) {
    if (pages === MOST_PAGES) throw new DeploymentError(`GET ${path}: no end after ${pages} pages`);
    const reply = await get(path);
    if (path !== first && REFUSALS.includes(reply.status)) break;
    const page = readList(RECORDS.Animal, path, reply);
    const known = animals.size;
    for (const animal of page) animals.set(animal.record.id, animal);
    total = totalIn(reply);
    const query = nextQuery(reply);
    const isLast = page.length === 0 || (wasLinked && query === undefined);
    if (isLast || (total !== undefined && animals.size >= total)) return { animals, gaps: [] };
    // The deployment ignored the parameters of the next page.
    if (animals.size === known) break;
    count += page.length;
    isWhole = query === undefined && total === undefined && page.length < LIMIT.maximum;
    wasLinked = query !== undefined;
    path = query === undefined ? `${first}&offset=${count}` : `/pets${query}`;
  }
  if (isWhole) return { animals, gaps: [] };
  const missing = total === undefined ? 'others may be' : `${total - animals.size} are`;
  const gap = `animals: GET /pets lists ${animals.size} and has no next page; ${missing} missing`;
  return { animals, gaps: [gap] };
}

/** The number of animals on all pages, if the deployment shows it. */
function totalIn(reply: DeploymentReply): number | undefined {
  const total = headerOf(reply.headers, 'x-total-count') ?? '';
  return /^\d{1,15}$/.test(total) ? Number(total) : undefined;
}

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
  const value = jsonOf(body);
  if (status === 200 && value !== undefined) return value;
  const error = readRecord(RECORDS.Error, value);
  const text = error.ok ? `${error.value.code}: ${error.value.message}` : describe(body.toString());
  throw new DeploymentError(
    status === 200
      ? `GET ${path}: expected JSON, found ${text}`
      : `GET ${path}: expected 200, found ${status}${body.length === 0 ? '' : `: ${text}`}`,
  );
}
