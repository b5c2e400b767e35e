import type { AssumptionId } from '../contract/assumption-table.ts';
import { OPERATIONS, type OperationId } from '../contract/operations.ts';
import { type Call, InputReader } from './input.ts';
import { checkKey, type KeyCheck } from './keyring.ts';
import { type Basis, errorReply, Grounds, type Reply } from './reply.ts';
import type { World } from './world.ts';

/** Answers a call in a world. Knows nothing of HTTP servers, timers or scenarios. */
export type Operation = (world: World, call: Call) => Reply;

/**
 * Makes an operation: `read` reads the input of a call, `run` works on the world. Adds the checks that
 * all operations share, in the order of `check-order`.
 */
export function operation<Input>(
  id: OperationId,
  read: (reader: InputReader, world: World) => Input | undefined,
  run: (world: World, input: Input, grounds: Grounds, call: Call) => Reply,
): Operation {
  const { method } = OPERATIONS[id];
  const writes = method !== 'GET';

  return (world, call) => {
    const check = checkKey(world.keys, call.authorization, world);
    const barred = bar(world, check, writes);
    const inputFirst = world.choices['check-order'] === 'input-first';
    // The document prescribes this for any input.
    if (barred?.status === 401 && !inputFirst) return barred;

    const grounds = new Grounds(world.choices);
    const permitted = barred === undefined && check.ok && check.readOnly && writes;
    if (permitted && !inputFirst) grounds.decidedBy('read-only-keys');
    const reader = new InputReader(call, grounds);
    const input = read(reader, world);
    const { refusal } = reader;
    if (barred !== undefined) {
      if (refusal !== undefined) return dueToOrder(world, inputFirst ? refusal : barred);
      return inputFirst && barred.status !== 401 ? dueToInput(barred, reader) : barred;
    }
    if (refusal !== undefined) return refusal;
    if (permitted && inputFirst) grounds.decidedBy('read-only-keys');
    if (input === undefined) throw new Error(`${id} read no input and reported no problem.`);
    return lettingThrough(run(world, input, grounds, call), reader);
  };
}

/** The refusal of a request because of its key, its rate or its permissions. */
function bar(world: World, check: KeyCheck, writes: boolean): Reply | undefined {
  const { choices } = world;
  if (!check.ok) {
    return errorReply(new Grounds(choices), 'unauthorized', 401, check.reason, {
      headers: challenge(world, check.tokenGiven),
      basis: { kind: 'documented' },
    });
  }
  const rate = choices['rate-limit'];
  const wait = rate === 'none' ? undefined : world.rates.count(check.key, rate);
  if (wait !== undefined) {
    const message = `this key may make ${rate} requests; try again in ${wait} s`;
    return errorReply(groundsOf(world, 'rate-limit'), 'too_many_requests', 429, message, {
      headers: ['Retry-After', String(wait)],
    });
  }
  if (!check.readOnly || !writes || choices['read-only-keys'] === 'ignored') return undefined;
  const message = 'this key is read-only';
  return errorReply(groundsOf(world, 'read-only-keys'), 'forbidden', 403, message);
}

function groundsOf({ choices }: World, id: AssumptionId): Grounds {
  const grounds = new Grounds(choices);
  grounds.decidedBy(id);
  return grounds;
}

/** The challenge of a 401 (RFC 6750, section 3). It has an error code only if a token was given. */
export function challenge(world: World, tokenGiven: boolean): readonly string[] {
  if (world.choices['auth-challenge'] === 'absent') return [];
  const error = tokenGiven ? ', error="invalid_token"' : '';
  return ['WWW-Authenticate', `Bearer realm="petstore"${error}`];
}

/** Both the key and the input are bad, so the order of the checks decided. */
function dueToOrder({ choices }: World, winner: Reply): Reply {
  const by = [`check-order=${choices['check-order']}`, ...groundsNamed(winner.basis)];
  return { ...winner, basis: { kind: 'assumed', by } };
}

/** A reply to input that another option would have refused with another status. */
function lettingThrough(answer: Reply, reader: InputReader): Reply {
  if (!reader.letThrough || answer.status === reader.refusalStatus) return answer;
  reader.settle();
  const by = [...groundsNamed(answer.basis), ...groundsNamed(reader.grounds.basis)];
  return { ...answer, basis: { kind: 'assumed', by: [...new Set(by)] } };
}

/** The refusal of a key after input that another option would have refused first. */
function dueToInput(barred: Reply, reader: InputReader): Reply {
  reader.settle();
  const by = [...groundsNamed(barred.basis), ...groundsNamed(reader.grounds.basis)];
  return { ...barred, basis: { kind: 'assumed', by } };
}

function groundsNamed(basis: Basis): readonly string[] {
  return basis.kind === 'assumed' ? basis.by : [];
}
