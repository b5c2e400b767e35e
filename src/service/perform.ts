import { OPERATIONS, type OperationId } from '../contract/operations.ts';
import { type Call, InputReader } from './input.ts';
import { checkKey, type KeyCheck } from './keyring.ts';
import { errorReply, Grounds, type Reply } from './reply.ts';
import type { World } from './world.ts';

/** Answers a call in a world. It knows nothing of HTTP servers, of timers or of what is simulated. */
export type Operation = (world: World, call: Call) => Reply;

/**
 * Makes an operation of its two halves: `read` takes the input out of the call, `run` does the work
 * on the world. Around them stand the checks that all seven share, in the order of `check-order`.
 */
export function operation<Input>(
  id: OperationId,
  read: (reader: InputReader, world: World) => Input | undefined,
  run: (world: World, input: Input, grounds: Grounds, call: Call) => Reply,
): Operation {
  const { method } = OPERATIONS[id];
  const writes = method !== 'GET';

  return (world, call) => {
    const grounds = new Grounds(world.choices);
    const check = checkKey(world.keys, call.authorization);
    const inputFirst = world.choices['check-order'] === 'input-first';

    if (!inputFirst) {
      const refused = admit(world, check, writes, grounds);
      if (refused !== undefined) return refused;
    }
    const reader = new InputReader(call, grounds);
    const input = read(reader, world);
    const { refusal } = reader;
    if (refusal !== undefined) return check.ok ? refusal : dueToOrder(refusal);
    reader.settle();
    if (inputFirst) {
      const refused = admit(world, check, writes, grounds);
      if (refused !== undefined) return refused;
    }
    if (input === undefined) throw new Error(`${id} read no input and named no problem.`);
    return run(world, input, grounds, call);
  };
}

/** Lets a request in, or says why not: its key, its rate, its permission. */
function admit(
  world: World,
  check: KeyCheck,
  writes: boolean,
  grounds: Grounds,
): Reply | undefined {
  if (!check.ok) {
    return errorReply(grounds, 'unauthorized', 401, check.reason, {
      headers: challenge(world, check.tokenGiven),
      basis: { kind: 'documented' },
    });
  }
  const rate = world.choices['rate-limit'];
  const wait = rate === 'none' ? undefined : world.rates.count(check.key, rate);
  if (wait !== undefined) {
    return errorReply(
      grounds,
      'too_many_requests',
      429,
      `this key may make ${rate} requests; try again in ${wait} s`,
      {
        headers: ['Retry-After', String(wait)],
        basis: { kind: 'assumed', by: [`rate-limit=${rate}`] },
      },
    );
  }
  if (check.readOnly && writes) {
    if (world.choices['read-only-keys'] === '403') {
      return errorReply(grounds, 'forbidden', 403, 'this key is read-only', {
        basis: { kind: 'assumed', by: ['read-only-keys=403'] },
      });
    }
    grounds.decidedBy('read-only-keys');
  }
  return undefined;
}

/** The challenge of a 401 (RFC 6750, section 3): an error code only where a token was given. */
function challenge(world: World, tokenGiven: boolean): readonly string[] {
  if (world.choices['auth-challenge'] === 'absent') return [];
  const error = tokenGiven ? ', error="invalid_token"' : '';
  return ['WWW-Authenticate', `Bearer realm="petstore"${error}`];
}

/** With both the key and the input bad, the order of the checks is what decided. */
function dueToOrder(refusal: Reply): Reply {
  const by = refusal.basis.kind === 'assumed' ? refusal.basis.by : [];
  return { ...refusal, basis: { kind: 'assumed', by: ['check-order=input-first', ...by] } };
}
