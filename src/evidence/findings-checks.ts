import { type OperationId, operationShape } from '../contract/operations.ts';
import { isObject } from '../contract/records.ts';
import type { Call } from '../service/input.ts';
import type { Reply } from '../service/reply.ts';
import type { World } from '../service/world.ts';
import { cut } from '../words.ts';

const PLACEHOLDER = /^Bearer +(undefined|null|\[object Object\])\s*$/i;

/** The key if it is what a program writes for a variable without a value. */
export function placeholderKey(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : PLACEHOLDER.exec(authorization)?.[1];
}

/** A query parameter or a body field. */
interface Input {
  readonly kind: 'query parameter' | 'body field';
  readonly name: string;
}

/** Characters shown of a name. */
const LONGEST_NAME = 100;

export function inputName({ kind, name }: Input): string {
  return `The ${kind} \`${cut(name, LONGEST_NAME)}\``;
}

/** The query parameters and body fields of a call that the document does not name. */
export function unknownInputs({ operation, query, body }: Call, world: World): Input[] {
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
export function nearRoundedId({ operation, pathId }: Call, { store }: World): bigint | undefined {
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

/** The seconds that a reply asks to wait for. */
export function retryAfter(reply: Reply | undefined, now: number): number | undefined {
  if (reply === undefined || reply.status < 300) return undefined;
  const { headers } = reply;
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at]?.toLowerCase() !== 'retry-after') continue;
    const value = headers[at + 1] ?? '';
    const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - now) / 1000;
    return seconds > 0 ? seconds : undefined;
  }
  return undefined;
}
