import { DEFAULT_URL } from '../contract/base-url.ts';
import {
  ASSUMED_REPLIES,
  type CaseReply,
  DOCUMENTED_CASES,
  DOCUMENTED_REPLIES,
  type PossibleReply,
} from '../contract/cases.ts';
import { parseInt64, tryParseJson } from '../contract/json.ts';
import { OPERATION_IDS, operationShape } from '../contract/operations.ts';
import { isObject } from '../contract/records.ts';
import { curlCommand } from '../curl.ts';
import { FAULTS, type Fault } from '../scenario/fault-table.ts';
import type { Call } from '../service/input.ts';
import { checkKey } from '../service/keyring.ts';
import type { World } from '../service/operation.ts';
import type { Reply } from '../service/reply.ts';
import type { CoverageReport, ShownCount } from './report-shapes.ts';
import type { Totals } from './totals.ts';

type StatusPlace = Pick<PossibleReply, 'operation' | 'status'>;

/** The keys under which replies and cases are counted. Assumed replies have keys of their own. */
const replyKey = ({ operation, status }: StatusPlace): string => `${operation} ${status}`;
const assumedKey = (reply: StatusPlace): string => `${replyKey(reply)} assumed`;
const caseKey = (it: StatusPlace & { readonly id: string }): string => `${replyKey(it)} ${it.id}`;

interface ReplyPlace {
  /** The key alone, a list that exchanges share. Undefined if only assumptions lead to the reply. */
  readonly documented: readonly string[] | undefined;
  readonly assumed: readonly string[];
  readonly cases: readonly {
    readonly key: string;
    readonly shows: (reply: CaseReply) => boolean;
  }[];
  /** The keys by the cases that a reply shows, a bit each. */
  readonly combinations: Map<number, readonly string[]>;
}

const PLACES = new Map(OPERATION_IDS.map((id) => [id, new Map<number, ReplyPlace>()]));
for (const reply of [...DOCUMENTED_REPLIES, ...ASSUMED_REPLIES]) {
  const isDocumented = DOCUMENTED_REPLIES.includes(reply);
  const cases = DOCUMENTED_CASES.filter((it) => isDocumented && replyKey(it) === replyKey(reply));
  PLACES.get(reply.operation)?.set(reply.status, {
    documented: isDocumented ? [replyKey(reply)] : undefined,
    assumed: [assumedKey(reply)],
    cases: cases.map((known) => ({ key: caseKey(known), shows: known.shows })),
    combinations: new Map(),
  });
}

const NOTHING: readonly string[] = [];

/**
 * What coverage counts of a reply: its key, then those of the cases that it shows. Empty for HEAD, which
 * the document does not define, for a spoilt reply, and for one that is neither documented nor assumed.
 *
 * @param world before the call
 */
export function listShown(
  { method }: { readonly method: string },
  call: Call,
  reply: Reply | undefined,
  fault: Fault | undefined,
  world: World,
): readonly string[] {
  const isDelivered = fault === undefined || FAULTS[fault.kind] === 'delivers';
  if (reply === undefined || !isDelivered || method === 'HEAD') return NOTHING;
  const place = PLACES.get(call.operation)?.get(reply.status);
  if (place === undefined) return NOTHING;
  const { documented, assumed, cases } = place;
  if (reply.basis.kind === 'assumed') return assumed;
  const own = documented ?? assumed;
  if (cases.length === 0) return own;
  const caseReply = caseReplyOf(call, reply, world);
  let mask = 0;
  for (let at = 0; at < cases.length; at += 1) {
    if (cases[at]?.shows(caseReply)) mask |= 1 << at;
  }
  return keysOf(place, own, mask);
}

/** The keys of a reply and of some of its cases, a list that exchanges share. */
function keysOf(
  { cases, combinations }: ReplyPlace,
  own: readonly string[],
  mask: number,
): readonly string[] {
  if (mask === 0) return own;
  let keys = combinations.get(mask);
  if (keys === undefined) {
    keys = [...own, ...cases.filter((_, at) => (mask >> at) & 1).map(({ key }) => key)];
    combinations.set(mask, keys);
  }
  return keys;
}

function caseReplyOf(call: Call, reply: Reply, world: World): CaseReply {
  const { query, pathId, body, authorization } = call;
  const { status } = reply;
  const key = status === 401 ? checkKey(world.keys, authorization, world) : undefined;
  // Only the store can tell: the document shows no body and defines no other conflict.
  const id = status === 409 ? parseInt64(pathId ?? '') : undefined;
  return {
    query,
    pathId,
    input: status < 400 && body.kind === 'bytes' && body.json.ok ? body.json.value : undefined,
    // The key can be valid if a rule forced the 401.
    isTokenSent: key !== undefined && (key.ok || key.tokenGiven),
    headers: reply.headers,
    wasCancelled: id !== undefined && world.store.orders.get(id)?.status === 'cancelled',
    records: recordsIn(reply),
  };
}

/** The records in a reply. Those of a forced body, which come as text, are parsed. */
function recordsIn({ records, body, basis, status }: Reply): Reply['records'] {
  if (records !== undefined || status >= 400 || body.kind !== 'json') return records;
  if (basis.kind === 'documented') return undefined;
  const value = tryParseJson(body.text.toString());
  return Array.isArray(value) || isObject(value) ? [value].flat().filter(isObject) : undefined;
}

/** What the clients of one or more sandboxes were shown. */
export function coverageOf(totals: Totals): CoverageReport {
  const documented = DOCUMENTED_REPLIES.map((it) => ({ ...it, ...totals.at(replyKey(it)) }));
  const added = ASSUMED_REPLIES.map((it) => ({ ...it, ...totals.at(assumedKey(it)) }));
  // Few assumptions lead to a documented status, so these are listed only if they were shown.
  const twins = DOCUMENTED_REPLIES.map((it) => ({ ...it, ...totals.at(assumedKey(it)) }))
    .filter(({ count }) => count > 0)
    .map((twin) => ({ ...twin, grounds: twin.by ?? [] }));
  const assumed = [...added, ...twins];
  const cases = DOCUMENTED_CASES.map(({ shows: _, ...it }) => ({
    ...it,
    ...totals.at(caseKey(it)),
  }));
  const shares = {
    documented: shareOf(documented),
    cases: shareOf(cases),
    assumed: shareOf(assumed),
  };
  return { totals: shares, documented, cases, assumed };
}

function shareOf(all: readonly ShownCount[]) {
  const shown = all.filter(({ count }) => count > 0).length;
  return { shown, total: all.length, percent: Math.floor((100 * shown) / all.length) };
}

/**
 * A curl command that gets a reply.
 *
 * @param url of the service; by default that of a mock on its default port
 */
export function howToGet(
  { operation, status }: StatusPlace,
  url = DEFAULT_URL,
  key = 'demo-key',
): string {
  const { method, path } = operationShape(operation);
  const headers = [
    ['Authorization', `Bearer ${key}`],
    ['Prefer', `code=${status}`],
  ] as const;
  return curlCommand({
    method,
    url: `${url}${path.replaceAll(/\{\w+\}/g, '1')}`,
    headers: status === 401 ? [] : headers,
  });
}
