import { OPERATION_IDS, type OperationId, operationShape } from '../contract/operations.ts';
import { isObject, unknownMembers } from '../contract/records.ts';
import type { Call } from '../service/input.ts';
import { adviseMethod, type UnknownRoute } from '../service/no-operation.ts';
import type { World } from '../service/operation.ts';
import type { Reply } from '../service/reply.ts';
import { describe, firstProblems, MAX_LISTED } from '../words.ts';
import type { FindingCode, FindingText } from './finding-codes.ts';
import { isFinal } from './retries.ts';
import type { TotalsState } from './totals.ts';

/** What clients did that they should not do against the real service. */
export interface FindingsReport extends Omit<TotalsState, 'shown'> {
  readonly total: number;
}

export function findingsOf({ counts, findings }: TotalsState): FindingsReport {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return { total, counts, findings };
}

/** Findings that every call of an operation causes. */
const NATURES: ReadonlyMap<OperationId, readonly FindingText[]> = new Map(
  OPERATION_IDS.map((id) => [id, naturesOf(id)] as const),
);

function naturesOf(id: OperationId): FindingText[] {
  const { sunset, stability } = operationShape(id);
  const deprecated = `${id} is deprecated and will be sunset on ${sunset}.`;
  return [
    ...(sunset ? [{ code: 'deprecated' as const, message: deprecated }] : []),
    ...(stability ? [{ code: 'experimental' as const, message: `${id} is ${stability}.` }] : []),
  ];
}

/** What a client did with a call that it should not do against the real service. */
export function findInCall(
  call: Call,
  reply: Reply | undefined,
  world: World,
): readonly FindingText[] {
  const natures = NATURES.get(call.operation) ?? [];
  const isSuccess = reply !== undefined && reply.status < 400;
  // A documented success does not depend on unknown inputs.
  const isPlain = isSuccess && reply.basis.kind === 'documented';
  const key = describePlaceholder(call.authorization);
  const { method, body } = operationShape(call.operation);
  const hasBody = body === undefined && hasContent(call);
  const preference = reply?.unknownPreference;
  if (isPlain && key === undefined && !hasBody && preference === undefined) return natures;
  const findings = [...natures];
  const add = (code: FindingCode, message: string | undefined): void => {
    if (message !== undefined) findings.push({ code, message });
  };
  add('placeholder-key', key);
  if (hasBody) add('unexpected-body', `A ${method} was sent with a body.`);
  add('unknown-preference', preference && `${preference}.`);
  if (!isPlain) {
    for (const input of unknownInputs(call, world, reply)) {
      add('unknown-input', `The ${input} is unknown to ${call.operation}.`);
    }
    add('drift', driftMessage(reply));
  }
  const isRefused = reply !== undefined && !isSuccess && isFinal(reply);
  if (isRefused && reply.status !== 401 && reply.status !== 403) {
    const near = nearRoundedId(call, world);
    if (near !== undefined)
      add('rounded-id', `${call.pathId} is unknown; ${near} exists and rounds to the same double.`);
  }
  return findings;
}

/** Whether a request announces content, of a known length or not. */
function hasContent({ headers }: Call): boolean {
  const length = headers['content-length'] ?? '0';
  return length !== '0' || headers['transfer-encoding'] !== undefined;
}

/** What programs write for a variable without a value, and templates for a key to fill in. */
const PLACEHOLDER =
  /^Bearer +(undefined|null|none|<?nil>?|\[object Object\]|\$\{[^}]*\}|<?your[-_ ]?api[-_ ]?key>?)\s*$/i;

const SECOND_SCHEME = /^Bearer +Bearer(?:\s|$)/i;

function describePlaceholder(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  if (SECOND_SCHEME.test(authorization)) return 'The key begins with a second `Bearer`.';
  const key = PLACEHOLDER.exec(authorization)?.[1];
  return key && `The key is literally \`${key}\`.`;
}

/** What a client did with a request that reaches no operation. */
export function findUnmatched({ method, allow, hint }: UnknownRoute): readonly FindingText[] {
  if (allow === undefined) {
    return [{ code: 'unmatched', message: `No operation has this path${hint}.` }];
  }
  if (method === 'OPTIONS') return [];
  return [{ code: 'unmatched', message: `${adviseMethod(method, allow)}.` }];
}

/** Statuses that refuse a request before its body is parsed. */
const UNPARSED: ReadonlySet<number | undefined> = new Set([401, 415]);

/** The query parameters and body fields of a call that the document does not name. */
function unknownInputs(
  { operation, query, body }: Call,
  { choices }: World,
  reply: Reply | undefined,
): string[] {
  const shape = operationShape(operation);
  const known = new Set(shape.parameters.filter((it) => it.in === 'query').map(({ name }) => name));
  if (operation === 'listPets') known.add(choices['pets-paging']);
  const parameters = [...new Set(query.map(([name]) => name))].filter((name) => !known.has(name));
  const { fields } = shape.body ?? {};
  const isParsed = fields !== undefined && body.kind === 'bytes' && !UNPARSED.has(reply?.status);
  const value = isParsed && body.json.ok ? body.json.value : undefined;
  const members = fields !== undefined && isObject(value) ? unknownMembers(fields, value) : [];
  return [
    ...parameters.slice(0, MAX_LISTED).map((name) => `query parameter ${describe(name)}`),
    ...members.slice(0, MAX_LISTED).map((name) => `body field ${describe(name)}`),
  ].slice(0, MAX_LISTED);
}

/** How a deployment's reply differs from the mock's. */
function driftMessage(reply: Reply | undefined): string | undefined {
  const drift = reply?.comparison?.drift ?? [];
  return drift.length === 0 ? undefined : `${firstProblems(drift, String).join('; ')}.`;
}

/** The largest distance of an int64 from its double, shortened digits included. */
const REACH = 2048n;

/** The collection in which an operation looks up the id in its path. */
const LOOKED_UP: { readonly [Id in OperationId]?: 'animals' | 'orders' } = {
  getPet: 'animals',
  updateInventory: 'animals',
  cancelOrder: 'orders',
};

/** The id of a record that a double would round to the call's unknown id. */
function nearRoundedId({ operation, pathId = '' }: Call, { store }: World): bigint | undefined {
  const collection = LOOKED_UP[operation];
  const double = Number(pathId);
  if (collection === undefined || !isRounded(pathId, double)) return undefined;
  const middle = BigInt(double);
  for (const { id } of store[collection].ascending(middle - REACH)) {
    if (id > middle + REACH) break;
    // A record with the id that was sent was refused for another reason.
    if (String(id) === pathId) return undefined;
    if (Number(id) === double && !Number.isSafeInteger(Number(id))) return id;
  }
  return undefined;
}

/** Whether a text is how a program writes a double beyond 2^53. */
function isRounded(text: string, double: number): boolean {
  if (!Number.isInteger(double) || Number.isSafeInteger(double)) return false;
  // An exponent or a point means a double. Otherwise it has the shortest digits, or all of them.
  return /[.eE]/.test(text) || text === String(double) || text === String(BigInt(double));
}
