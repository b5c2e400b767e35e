import type { AssumptionId, Choices } from '../contract/assumption-table.ts';
import { OPERATIONS, type OperationId } from '../contract/operations.ts';
import type { Store } from '../store/store.ts';
import { type Call, InputReader } from './input.ts';
import {
  checkKey,
  countRequest,
  type KeyCheck,
  type KeyRefusal,
  type Keyring,
  type RateWindows,
} from './keyring.ts';
import type { MockOptions } from './mock-options.ts';
import {
  AssumptionTrace,
  type Basis,
  errorReply,
  NO_HEADERS,
  type Reply,
  type Representation,
} from './reply.ts';

export interface ServiceState {
  readonly store: Store;
  readonly choices: Choices;
  readonly represent: Representation;
  readonly keys: Keyring;
  readonly rates: RateWindows;
  /** As the caller gave them, without defaults. */
  readonly options: MockOptions;
  /** By the clock of the sandbox, in milliseconds since 1970. */
  readonly now: number;
  readonly startedAt: number;
}

interface OperationResult {
  readonly reply: Reply;
  readonly store: Store;
  readonly rates: RateWindows;
}

export type Operation = (state: ServiceState, call: Call) => OperationResult;

export interface ReplyWithStore {
  readonly reply: Reply;
  readonly store: Store;
}

/** Adds what all operations share: the checks, in the order of `check-order`, and headers. */
export function operation<Input>(
  id: OperationId,
  read: (reader: InputReader, state: ServiceState) => Input | undefined,
  run: (
    state: ServiceState,
    input: Input,
    decidedBy: AssumptionTrace,
    call: Call,
  ) => Reply | ReplyWithStore,
  headersOf: (choices: Choices) => readonly string[] = () => NO_HEADERS,
): Operation {
  const { method } = OPERATIONS[id];
  const writes = method !== 'GET';

  const runChecked = (
    state: ServiceState,
    call: Call,
    check: KeyCheck,
    wait: number | undefined,
  ): Reply | ReplyWithStore => {
    const denial = refuseAccess(state, check, writes, wait);
    const inputFirst = state.choices['check-order'] === 'input-first';
    // The document prescribes this 401 whatever the input is.
    if (denial?.status === 401 && !inputFirst) return denial;

    const decidedBy = new AssumptionTrace(state.choices);
    const isReadOnlyWrite = denial === undefined && check.ok && check.readOnly && writes;
    if (isReadOnlyWrite && !inputFirst) decidedBy.add('read-only-keys');
    const reader = new InputReader(call, decidedBy);
    const input = read(reader, state);
    const { refusal } = reader;
    if (denial !== undefined) {
      if (refusal !== undefined) return dueToOrder(state, inputFirst ? refusal : denial);
      return inputFirst && denial.status !== 401 ? dueToInput(denial, reader) : denial;
    }
    if (refusal !== undefined) return refusal;
    if (isReadOnlyWrite && inputFirst) decidedBy.add('read-only-keys');
    if (input === undefined) throw new Error(`${id} read no input and reported no problem.`);
    const result = run(state, input, decidedBy, call);
    if (!reader.hasAcceptedInput) return result;
    if (!('reply' in result)) return markAssumed(result, reader);
    return { reply: markAssumed(result.reply, reader), store: result.store };
  };

  return (state, call) => {
    const { choices, store, rates, now } = state;
    const check = checkKey(state.keys, call.authorization, state);
    const rate = choices['rate-limit'];
    const isCounted = check.ok && rate !== 'none';
    const count = isCounted ? countRequest(rates, check.key, rate, now) : undefined;
    const result = runChecked(state, call, check, count?.wait);
    const { reply, store: after } = 'reply' in result ? result : { reply: result, store };
    const shared = headersOf(choices);
    const whole =
      shared.length === 0 ? reply : { ...reply, headers: [...reply.headers, ...shared] };
    return { reply: whole, store: after, rates: count?.rates ?? rates };
  };
}

/** @param wait the seconds until the rate limit allows another request, if it is exceeded */
function refuseAccess(
  state: ServiceState,
  check: KeyCheck,
  writes: boolean,
  wait: number | undefined,
): Reply | undefined {
  const { choices } = state;
  if (!check.ok) return refuseKey(state, check);
  if (wait !== undefined) {
    const message = `rate limit of ${choices['rate-limit']} reached; try again in ${wait} s`;
    return errorReply(startTrace(state, 'rate-limit'), 'too_many_requests', 429, message, {
      headers: ['Retry-After', String(wait)],
    });
  }
  if (!check.readOnly || !writes || choices['read-only-keys'] === 'ignored') return undefined;
  const message = 'this key is read-only';
  return errorReply(startTrace(state, 'read-only-keys'), 'forbidden', 403, message);
}

export function refuseKey(
  { choices }: Pick<ServiceState, 'choices'>,
  { reason, tokenGiven }: KeyRefusal,
): Reply {
  return errorReply(new AssumptionTrace(choices), 'unauthorized', 401, reason, {
    headers: challenge(choices, tokenGiven),
    basis: { kind: 'documented' },
  });
}

function startTrace({ choices }: ServiceState, id: AssumptionId): AssumptionTrace {
  const decidedBy = new AssumptionTrace(choices);
  decidedBy.add(id);
  return decidedBy;
}

/** The challenge names an error only if the client sent a token (RFC 6750, section 3). */
export function challenge(choices: Choices, tokenGiven: boolean): readonly string[] {
  if (choices['auth-challenge'] === 'absent') return [];
  const error = tokenGiven ? ', error="invalid_token"' : '';
  return ['WWW-Authenticate', `Bearer realm="petstore"${error}`];
}

/** Both the key and the input are bad, so the basis names `check-order`, which chose the error. */
function dueToOrder({ choices }: ServiceState, winner: Reply): Reply {
  const by = [`check-order=${choices['check-order']}`, ...listAssumptions(winner.basis)];
  return { ...winner, basis: { kind: 'assumed', by } };
}

/** Adds to the basis the options that accepted the input, if others would have refused it. */
function markAssumed(reply: Reply, reader: InputReader): Reply {
  if (reply.status === reader.refusalStatus) return reply;
  reader.addAccepting();
  return { ...reply, basis: reader.decidedBy.assumed };
}

/** Adds to a refusal's basis the options that accepted the input, which was checked first. */
function dueToInput(denial: Reply, reader: InputReader): Reply {
  reader.addAccepting();
  const by = [...listAssumptions(denial.basis), ...listAssumptions(reader.decidedBy.basis)];
  return { ...denial, basis: { kind: 'assumed', by } };
}

function listAssumptions(basis: Basis): readonly string[] {
  return basis.kind === 'assumed' ? basis.by : [];
}
