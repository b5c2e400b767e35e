import { type OperationId, operationShape } from '../contract/operations.ts';
import { isObject } from '../contract/records.ts';
import type { Call } from '../service/input.ts';
import type { World } from '../service/operation.ts';
import type { Reply } from '../service/reply.ts';
import { cut } from '../words.ts';
import type { FindingText } from './finding-codes.ts';
import { type Attempt, type Retries, retryOf } from './retries.ts';

const NONE: readonly FindingText[] = [];

/** A call and its reply, as findings are made of them. */
export interface CallWithReply {
  readonly call: Call;
  /** Undefined if the client was sent none. */
  readonly reply: Reply | undefined;
  /** Before the call. */
  readonly world: World;
}

/** What a client did with a call that it should not have repeated. */
export function findingsOfRetry(attempt: Attempt, before: Retries): readonly FindingText[] {
  const { isPointless, ignoredPause } = retryOf(attempt, before);
  if (!isPointless && ignoredPause === undefined) return NONE;
  const found: FindingText[] = [];
  if (isPointless) {
    const message = `The same call was repeated after a ${attempt.status} that cannot change.`;
    found.push({ code: 'pointless-retry', message });
  }
  if (ignoredPause !== undefined) {
    const message = `The call was repeated before Retry-After (${ignoredPause} s) had passed.`;
    found.push({ code: 'early-retry', message });
  }
  return found;
}

/** Unknown inputs named for one exchange; the rest are counted. */
const MOST_INPUTS = 20;

/** The unknown inputs of a call. */
export function* inputMessages({ call, world }: CallWithReply): Generator<string> {
  if (call.query.length === 0 && call.body.kind !== 'bytes') return;
  const unknown = unknownInputs(call, world);
  for (const input of unknown.slice(0, MOST_INPUTS)) {
    yield `${inputName(input)} is unknown to ${call.operation}.`;
  }
  const more = unknown.length - MOST_INPUTS;
  if (more > 0) yield `${more} more are unknown to ${call.operation}.`;
}

/** Differences named in one message. */
const MOST_DIFFERENCES = 3;

/** How a deployment's reply differs from the mock's. */
export function driftMessage(reply: Reply | undefined): string | undefined {
  const drift = reply?.comparison?.drift ?? [];
  if (drift.length === 0) return undefined;
  const rest = drift.length - MOST_DIFFERENCES;
  const more = rest > 0 ? `; and ${rest} more` : '';
  return `${drift.slice(0, MOST_DIFFERENCES).join('; ')}${more}.`;
}

/** That a double has rounded the call's id. */
export function idMessage({ call, reply, world }: CallWithReply): string | undefined {
  if (reply?.status === 401 || reply?.status === 403) return undefined;
  const near = nearRoundedId(call, world);
  if (near === undefined) return undefined;
  return `${call.pathId} is unknown; ${near} exists and rounds to the same double.`;
}

/** A query parameter or a body field. */
interface Input {
  readonly kind: 'query parameter' | 'body field';
  readonly name: string;
}

/** Characters shown of a name. */
const LONGEST_NAME = 100;

function inputName({ kind, name }: Input): string {
  return `The ${kind} \`${cut(name, LONGEST_NAME)}\``;
}

/** The query parameters and body fields of a call that the document does not name. */
function unknownInputs({ operation, query, body }: Call, world: World): Input[] {
  const shape = operationShape(operation);
  const known = new Set<string>();
  for (const parameter of shape.parameters) {
    if (parameter.in === 'query') known.add(parameter.name);
  }
  if (operation === 'listPets') known.add(world.choices['pets-paging']);
  const parameters = new Set(query.map(([name]) => name));
  const unknown: Input[] = [];
  for (const name of parameters) {
    if (!known.has(name)) unknown.push({ kind: 'query parameter', name });
  }
  if (body.kind === 'bytes' && shape.body !== undefined && body.json.ok) {
    const { value } = body.json;
    for (const name of isObject(value) ? Object.keys(value) : []) {
      if (!Object.hasOwn(shape.body.fields, name)) unknown.push({ kind: 'body field', name });
    }
  }
  return unknown;
}

/** The largest distance of an int64 from its double, shortened digits included. */
const REACH = 2048n;

/** The collection in which an operation looks up the id in its path. */
const LOOKED_UP: Readonly<Record<OperationId, 'animals' | 'orders' | undefined>> = {
  listPets: undefined,
  createPet: undefined,
  getPet: 'animals',
  listInventory: undefined,
  updateInventory: 'animals',
  listOrders: undefined,
  cancelOrder: 'orders',
};

/** The id of a record that a double would round to the call's unknown id. */
function nearRoundedId({ operation, pathId }: Call, { store }: World): bigint | undefined {
  const collection = LOOKED_UP[operation];
  if (collection === undefined || pathId === undefined || !isRounded(pathId)) return undefined;
  const double = Number(pathId);
  const records = store[collection];
  const middle = BigInt(double);
  for (const { id } of records.ascending(middle - REACH)) {
    if (id > middle + REACH) break;
    // A record with the id that was sent was refused for another reason.
    if (String(id) === pathId) return undefined;
    if (Number(id) === double && !Number.isSafeInteger(Number(id))) return id;
  }
  return undefined;
}

/** Whether a text is how a program writes a double beyond 2^53. */
function isRounded(text: string): boolean {
  if (!/^-?\d[\d.]*(?:[eE]\+?\d+)?$/.test(text)) return false;
  const double = Number(text);
  if (!Number.isInteger(double) || Number.isSafeInteger(double)) return false;
  if (Math.abs(double) > 2 ** 63) return false;
  // An exponent or a point means a double. Otherwise it has the shortest digits, or all of them.
  if (/[.eE]/.test(text)) return true;
  return text === String(double) || text === String(BigInt(double));
}
