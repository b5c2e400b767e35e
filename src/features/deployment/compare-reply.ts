import { BODY_LIMITS } from '../../core/contract/assumptions/protocol-assumptions.ts';
import { ORDER_STATUSES } from '../../core/contract/records.ts';
import { INT64_MAX, isObject, parseInt64, tryParseJson } from '../../core/json.ts';
import { findHeader } from '../../core/raw-http.ts';
import type { Call, RequestBody } from '../../core/service/input.ts';
import { bearerToken, createKeyring, NO_RATES } from '../../core/service/keyring.ts';
import type { ServiceState } from '../../core/service/operation.ts';
import { basisReasons, type Comparison, type Reply } from '../../core/service/reply.ts';
import { SERVICE } from '../../core/service/service.ts';
import { createStore, EMPTY_STORE, type Store } from '../../core/store/store.ts';
import { joinWords } from '../../core/words.ts';
import { isViolation, replyDifferences } from './deployment-reply.ts';

interface CompleteReply {
  readonly status: number;
  readonly headers: readonly string[];
  /** Decoded. */
  readonly body: Uint8Array | undefined;
  readonly json: unknown;
}

/** More animals than a page has, and one record of each other kind. */
const FULL = createStore({
  animals: Array.from({ length: 101 }, (_, at) => ({ id: BigInt(at), name: '', categoryId: 0n })),
  inventory: [{ petId: 0n, quantity: 1, status: 'available' }],
  orders: [{ id: 0n, status: 'pending' }],
});

/** No id is left. */
const EXHAUSTED = createStore({ animals: [{ id: INT64_MAX, name: '', categoryId: 0n }] });

/** What a deployment may have where a call asks for one record. */
function listStores({ pathId }: Call): readonly Store[] {
  const id = parseInt64(pathId ?? '');
  if (id === undefined) return [EMPTY_STORE, FULL, EXHAUSTED];
  const animals = [{ id, name: '', categoryId: 0n }];
  return [
    EMPTY_STORE,
    createStore({ animals }),
    createStore({ animals, inventory: [{ petId: id, quantity: 1, status: 'available' }] }),
    ...ORDER_STATUSES.map((status) => createStore({ animals, orders: [{ id, status }] })),
  ];
}

const ANY_KEY = createKeyring({ any: true });
const OTHER_KEYS = [
  createKeyring({ invalid: 'all' }),
  createKeyring({ any: true, allReadOnly: true }),
];

/** Compares with what the mock would answer, whatever records and keys the deployment has. */
export function compareReply(state: ServiceState, call: Call, reply: CompleteReply): Comparison {
  const body = recreateBody(state, call);
  if (body === undefined) return { expected: undefined, drift: bodyDrift(call, reply) };
  const ask = (store: Store, keys = ANY_KEY, rates = NO_RATES, query = call.query): Reply => {
    const asked = { ...state, store, keys, rates, now: Date.now() };
    return SERVICE[call.operation](asked, { ...call, body, query }).reply;
  };
  const stores = listStores(call);
  const replies = stores.map((store) => ask(store));
  const [first] = replies;
  const expected = replies.every(({ status }) => status === first?.status) ? first : undefined;
  const isKeySent = call.authorization !== undefined;
  const spent = countRequests(state, call);
  const others = stores.flatMap((store) => [
    ...(isKeySent ? OTHER_KEYS.map((keys) => ask(store, keys)) : []),
    ...(spent === undefined ? [] : [ask(store, ANY_KEY, spent)]),
  ]);
  const possible = [...replies, ...others];
  const page = call.query.filter(([name]) => name === 'limit');
  const drift = possible.some(({ status }) => status === reply.status)
    ? [
        ...headerDrift(reply, possible),
        ...bodyDrift(call, reply),
        ...listDrift(call, reply, ask(FULL, ANY_KEY, NO_RATES, page)),
      ]
    : [describeStatus(reply, possible, expected)];
  return { expected, drift };
}

/** As many requests as the rate limit allows, if there is one. */
function countRequests({ choices }: ServiceState, { authorization }: Call) {
  if (choices['rate-limit'] === 'none') return undefined;
  const spent = { startedAt: Date.now(), count: Number.MAX_SAFE_INTEGER };
  return new Map([[bearerToken(authorization) ?? '', spent]]);
}

/** @returns undefined if the mock holds too little of the body */
function recreateBody({ choices }: ServiceState, { body }: Call): RequestBody | undefined {
  const limit = BODY_LIMITS[choices['body-limit']];
  if (body.kind === 'none') return body;
  const size = body.kind === 'bytes' ? body.bytes.length : body.limit;
  if (size > limit) return { kind: 'too-large', limit };
  return body.kind === 'bytes' ? body : undefined;
}

function describeStatus(
  { status }: CompleteReply,
  possible: readonly Reply[],
  expected: Reply | undefined,
): string {
  // A wrong key is the less likely reason where the mock refuses anyway.
  const refusal = expected !== undefined && expected.status >= 400 ? expected : undefined;
  const likely = refusal === undefined ? possible : [refusal];
  const statuses = [...new Set(likely.map((each) => String(each.status)))].sort();
  const by = refusal && basisReasons(refusal.basis).join(', ');
  return `status: expected ${joinWords(statuses, 'or')}${by ? ` (${by})` : ''}, found ${status}`;
}

/** Headers that assumptions are about. Their values are the deployment's own. */
const ASSUMED_HEADERS = ['WWW-Authenticate', 'Deprecation', 'Sunset', 'X-Total-Count'];

function headerDrift({ status, headers }: CompleteReply, possible: readonly Reply[]): string[] {
  const wanted = possible.find((each) => each.status === status)?.headers ?? [];
  return ASSUMED_HEADERS.flatMap((name) => {
    const isFound = findHeader(headers, name.toLowerCase()) !== undefined;
    if (wanted.includes(name) === isFound) return [];
    return [`header ${name}: expected ${isFound ? 'none, found one' : 'one, found none'}`];
  });
}

function bodyDrift(call: Call, compared: CompleteReply): string[] {
  const { body } = compared;
  if (body === undefined) return [];
  return replyDifferences({ ...compared, body: Buffer.from(body) }, call.operation)
    .filter(isViolation)
    .map(
      ({ at, where, expected, found }) => `${at ?? where}: expected ${expected}, found ${found}`,
    );
}

/** @param most of a mock with more records than a list shows */
function listDrift({ operation }: Call, { json }: CompleteReply, most: Reply): string[] {
  if (!Array.isArray(json) || most.body === undefined) return [];
  const text = typeof most.body === 'string' ? most.body : Buffer.from(most.body).toString();
  const shown = tryParseJson(text);
  const length = Array.isArray(shown) ? shown.length : 0;
  if (operation === 'listPets' && json.length > length) {
    return [`$: expected at most ${length} animals, found ${json.length}`];
  }
  if (operation !== 'listOrders' || text.includes('"status"')) return [];
  const isShown = json.some((order) => isObject(order) && 'status' in order);
  return isShown ? ['$[].status: expected nothing (order-status-field=hidden), found one'] : [];
}
