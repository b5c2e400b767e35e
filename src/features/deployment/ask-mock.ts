import type { Choices } from '../../core/contract/assumption-table.ts';
import { BODY_LIMITS } from '../../core/contract/assumptions/protocol-assumptions.ts';
import { BASE_PATH } from '../../core/contract/operations.ts';
import { parseTarget } from '../../core/contract/target.ts';
import { answer } from '../../core/sandbox/answer.ts';
import type { Exchange } from '../../core/sandbox/exchange.ts';
import { createStart, type Start } from '../../core/sandbox/start.ts';
import { initialState } from '../../core/sandbox/state.ts';
import { BodyBytes, NO_BODY, type RequestBody } from '../../core/service/input.ts';
import { groundsOf, type Representation, representationFor } from '../../core/service/reply.ts';
import { createStore, type Store } from '../../core/store/store.ts';
import { createServiceRequest } from '../../server/arrival.ts';
import type { DeploymentRequest } from './deployment-client.ts';
import type { DeploymentReply } from './deployment-reply.ts';

export interface MockReply extends DeploymentReply, Pick<Exchange, 'basis'> {
  readonly why: string | undefined;
}

/** @param elapsed how long after the mock's start the request arrives, in milliseconds */
export type AskMock = (request: DeploymentRequest, elapsed?: number) => MockReply;

/**
 * Prepares mocks with this store and time. Each answers a sequence of requests under its own
 * choices, and reads a choice only where it matters: `trackReads` shows what a reply depends on.
 */
export function prepareMock(
  store: Store,
  now: number,
  start: Start = PLAIN,
): (choices: Choices) => AskMock {
  const initial = { ...initialState(start, now), store };
  return (choices) => {
    const settings = { ...initial.settings, choices, represent: representLate(choices) };
    let state = { ...initial, settings };
    return (request, elapsed = 0) => {
      const instant = { wall: now + elapsed, steady: 0 };
      const asked = answer(state, readRequest(request, choices), instant);
      state = { ...asked.state, settings };
      const { reply, basis, reasons } = asked.result;
      if (reply === undefined) throw new Error('The mock gave no reply.');
      const body = Buffer.from(reply.body ?? '');
      const why = reasons[groundsOf(basis).length];
      return { status: reply.status, headers: reply.headers, body, basis, why };
    };
  };
}

/** The settings of all mocks that `check` and drift ask. */
const PLAIN = createStart({ plain: true }, createStore({ animals: [], inventory: [], orders: [] }));

/** Reads the choices with the first record: a reply without records does not depend on them. */
function representLate(choices: Choices): Representation {
  return {
    animal: (animal) => representationFor(choices).animal(animal),
    inventoryEntry: (entry) => representationFor(choices).inventoryEntry(entry),
    order: (order) => representationFor(choices).order(order),
  };
}

function readRequest({ method, path, key, headers, body }: DeploymentRequest, choices: Choices) {
  const authorization = key === null ? undefined : `Bearer ${key ?? 'demo-key'}`;
  const sent = {
    ...(authorization !== undefined && { authorization }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...Object.fromEntries(
      Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
    ),
  };
  const rawHeaders = Object.entries(sent).flat();
  const head = { method, headers: sent, rawHeaders, mount: '', port: undefined, receivedAt: 0 };
  const target = parseTarget(BASE_PATH + path);
  return createServiceRequest(head, target, authorization, receive(body, choices));
}

/** Receives a body as the server would. Spaces at its end only make it long, and are dropped. */
function receive(text: string | undefined, choices: Choices): RequestBody {
  if (text === undefined) return NO_BODY;
  const length = Buffer.byteLength(text);
  // A short body fits under any option, so it does not read the choice.
  const limit = length <= BODY_LIMITS['10kb'] ? length : BODY_LIMITS[choices['body-limit']];
  if (length > limit) return { kind: 'too-large', limit };
  return new BodyBytes(Buffer.from(text.trimEnd()));
}
