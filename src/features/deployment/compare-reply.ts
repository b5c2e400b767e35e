import {
  assumptionTopic,
  type Choices,
  OPTION_REPLIES,
} from '../../core/contract/assumption-table.ts';
import { OPERATIONS, type OperationId, operationShape } from '../../core/contract/operations.ts';
import { isObject } from '../../core/json.ts';
import { findHeader } from '../../core/raw-http.ts';
import { SERVICE } from '../../core/sandbox/answer.ts';
import { BODY_LIMITS, type Call, type RequestBody } from '../../core/service/input.ts';
import { createKeyring, NO_RATES } from '../../core/service/keyring.ts';
import { challenge, type ServiceState } from '../../core/service/operation.ts';
import { deprecationHeaders } from '../../core/service/pets.ts';
import { basisReasons, type Comparison, type Reply } from '../../core/service/reply.ts';
import { EMPTY_STORE } from '../../core/store/store.ts';
import { joinWords } from '../../core/words.ts';
import { isViolation, replyDifferences } from './deployment-reply.ts';

interface CompleteReply {
  readonly status: number;
  readonly headers: readonly string[];
  /** Decoded. */
  readonly body: Uint8Array | undefined;
  readonly json: unknown;
}

/** Compares by the document and the chosen options alone: records and keys are the deployment's own. */
export function compareReply(state: ServiceState, call: Call, reply: CompleteReply): Comparison {
  const expected = expectedReply(state, call);
  const drift = statusDrift(state, call, reply, expected) ?? [
    ...headerDrift(state, call, reply, expected),
    ...bodyDrift(state, call, reply),
  ];
  return { expected, drift };
}

const ANY_KEY = createKeyring({ any: true });

/** What the mock would have answered, whatever the records; undefined if it depends on them. */
function expectedReply(state: ServiceState, call: Call): Reply | undefined {
  const body = recreateBody(state, call);
  if (body === undefined) return undefined;
  let isRead = false;
  const store = new Proxy(EMPTY_STORE, {
    get: (target, name) => {
      isRead = true;
      return Reflect.get(target, name);
    },
  });
  const blind = { ...state, store, keys: ANY_KEY, now: Date.now(), rates: NO_RATES };
  const { reply } = SERVICE[call.operation](blind, { ...call, body });
  return isRead ? undefined : reply;
}

/** @returns undefined if the mock holds too little of the body */
function recreateBody({ choices }: ServiceState, { body }: Call): RequestBody | undefined {
  const limit = BODY_LIMITS[choices['body-limit']];
  if (body.kind === 'none') return body;
  const size = body.kind === 'bytes' ? body.bytes.length : body.limit;
  if (size > limit) return { kind: 'too-large', limit };
  return body.kind === 'bytes' ? body : undefined;
}

/** @returns undefined if the mock could have answered with this status */
function statusDrift(
  { choices }: ServiceState,
  call: Call,
  { status }: CompleteReply,
  expected: Reply | undefined,
): string[] | undefined {
  // Which keys are valid, only the deployment knows.
  if (status === 401 && call.authorization !== undefined) return undefined;
  if (expected !== undefined) {
    if (expected.status === status) return undefined;
    const by = basisReasons(expected.basis).join(', ');
    return [`status: expected ${expected.status}${by && ` (${by})`}, found ${status}`];
  }
  if (call.body.kind === 'too-large') return undefined;
  const possible = possibleStatuses(call.operation, choices);
  if (possible.has(status)) return undefined;
  return [`status: expected ${joinWords([...possible].sort().map(String), 'or')}, found ${status}`];
}

function possibleStatuses(id: OperationId, choices: Choices): Set<number> {
  const statuses = new Set(Object.keys(operationShape(id).replies).map(Number));
  for (const { operation, assumption, option, status } of OPTION_REPLIES) {
    const chosen = choices[assumption];
    // `rate-limit` has more options than those that are listed.
    const isChosen = chosen === option || (assumption === 'rate-limit' && chosen !== 'none');
    if (operation === id && isChosen && assumptionTopic(assumption) !== 'Input')
      statuses.add(status);
  }
  return statuses;
}

/** Headers that assumptions are about. Their values are the deployment's own. */
const ASSUMED_HEADERS = ['WWW-Authenticate', 'Deprecation', 'Sunset', 'X-Total-Count'];

function headerDrift(
  state: ServiceState,
  { operation }: Call,
  { status, headers }: CompleteReply,
  expected: Reply | undefined,
): string[] {
  let wanted: readonly string[] | undefined;
  if (expected?.status === status) wanted = expected.headers;
  else if (status === 401) wanted = challenge(state.choices, true);
  else if (operation === 'getPet' && status === 200) wanted = deprecationHeaders(state.choices);
  if (wanted === undefined) return [];
  return ASSUMED_HEADERS.flatMap((name) => {
    const isFound = findHeader(headers, name.toLowerCase()) !== undefined;
    if (wanted.includes(name) === isFound) return [];
    return [`header ${name}: expected ${isFound ? 'none, found one' : 'one, found none'}`];
  });
}

function bodyDrift(state: ServiceState, call: Call, compared: CompleteReply): string[] {
  const { status, body, json } = compared;
  if (body === undefined) return [];
  const drift = replyDifferences({ ...compared, body: Buffer.from(body) }, call.operation)
    .filter(isViolation)
    .map(
      ({ at, where, expected, found }) => `${at ?? where}: expected ${expected}, found ${found}`,
    );
  if (call.operation === 'listOrders' && state.choices['order-status-field'] === 'hidden') {
    const shown = Array.isArray(json) && json.some((order) => isObject(order) && 'status' in order);
    if (shown) drift.push('$[].status: expected nothing (order-status-field=hidden), found one');
  }
  const max =
    call.operation === 'listPets' && status === 200 ? maxPageLength(state, call) : Infinity;
  return Array.isArray(json) && json.length > max
    ? [...drift, `$: expected at most ${max} animals, found ${json.length}`]
    : drift;
}

const [LIMIT] = OPERATIONS.listPets.parameters;

function maxPageLength({ choices }: ServiceState, { query }: Call): number {
  const requested = query.find(([name]) => name === LIMIT.name)?.[1];
  const limit = requested === undefined ? LIMIT.default : Number(requested);
  if (limit >= LIMIT.minimum && limit <= LIMIT.maximum) return limit;
  return choices['limit-out-of-range'] === 'default' ? LIMIT.default : LIMIT.maximum;
}
