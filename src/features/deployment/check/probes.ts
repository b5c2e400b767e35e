import {
  OPERATION_IDS,
  type OperationId,
  operationShape,
  SUNSET_ENDS,
} from '../../../core/contract/operations.ts';
import { SEEN_ANIMAL_STATUSES } from '../../../core/contract/records.ts';
import { isObject, type Json, tryParseJson } from '../../../core/json.ts';
import { rowNames } from '../../../core/tables.ts';
import { UNKNOWN_WORD } from '../deployment-reply.ts';
import type { DeploymentFlags } from '../flags.ts';
import { DEPLOYMENT_DEFAULTS } from '../options.ts';

export interface Probe extends Modifier {
  readonly method: string;
  /** The path below the base URL. Words in capitals are placeholders that the check fills in. */
  readonly path: string;
  readonly body: string | undefined;
  /** The JSON body as an object. */
  readonly sent: Json;
  readonly headers: Readonly<Record<string, string>>;
  /** The operation that the probe calls; undefined if the document has none for it. */
  readonly operation: OperationId | undefined;
  readonly times: number;
  /** The modifiers of the probe, in words. */
  readonly modifiers: string;
}

interface Modifier {
  readonly key?: KeyName;
  readonly headers?: Readonly<Record<string, string>>;
  readonly times?: number;
  readonly isLate?: boolean;
  readonly isOnce?: boolean;
  /** How long after a mock's start the probe is sent, in milliseconds; for mocks only. */
  readonly elapsed?: number;
}

type KeyName = 'none' | 'unknown' | 'invalid' | 'read-only';

/** Probes that build on each other. Sequences do not depend on each other. */
export interface Sequence {
  readonly why: string;
  /** What is missing to run it, in words. */
  readonly needs: readonly string[];
  readonly probes: readonly Probe[];
  /** The order that a flag names, and the placeholder that stands for it. */
  readonly orderName?: keyof typeof ORDER_FLAGS | undefined;
  readonly order?: bigint | undefined;
}

const ORDER_FLAGS = { CANCEL: 'cancel', SHIPPED: 'shipped', CANCELLED: 'cancelled' } as const;

const ORIGIN = 'https://petstore-mock-check.example';

/** How often everything is asked. What differs between rounds proves nothing. */
export const ROUNDS = 2;

/** How many requests a burst has: more than `rate-limit=10/s` allows in two seconds. */
const BURST = 21;

const MODIFIERS: Readonly<Record<string, Modifier>> = {
  'without a key': { key: 'none' },
  'with an unknown key': { key: 'unknown' },
  'with the invalid key': { key: 'invalid' },
  'with the read-only key': { key: 'read-only' },
  'as text/plain': { headers: { 'Content-Type': 'text/plain' } },
  'from another origin': { headers: { Origin: ORIGIN } },
  preflight: { key: 'none', headers: { Origin: ORIGIN, 'Access-Control-Request-Method': 'GET' } },
  [`${BURST} times`]: { times: BURST },
  /** Sent after all writes of a round. */
  later: { isLate: true },
  /** Sent in the first round only, because it cannot be repeated. */
  once: { isOnce: true },
  'after the sunset': { elapsed: SUNSET_ENDS - Date.UTC(2025, 0, 1) },
};

export const CHECK_NAME = 'petstore-mock check';
const animal = (name: string, more = '') =>
  `{"name":"${CHECK_NAME}: ${name}","categoryId":1${more}}`;
/** An id that a double cannot hold. */
const LARGE = 2n ** 53n + 1n;
export const SENT_ID = 7_777_777_777_777_777n;
/** One character longer than `name-limits=255` allows. */
const LONG_NAME = `${CHECK_NAME}: `.padEnd(256, 'x');
const padded = (kib: number) => '{}'.padEnd((kib + 1) * 1024);
const LATER = ['later: GET /pets/NEW', 'later: GET /pets?limit=99', 'later: GET /inventory'];

const stock = (id: string) =>
  [3, 0, 5].map((count) => `PATCH /inventory/${id} {"quantity":${count}}`);
const badStock = (id: string) => [
  `PATCH /inventory/${id} {"quantity":2}`,
  `PATCH /inventory/${id} {"quantity":-1}`,
  `PATCH /inventory/${id} {"quantity":"4"}`,
  `PATCH /inventory/${id} {}`,
];

/** Why, then the probes as `modifiers: METHOD PATH BODY`. Caches: use one spelling of each path. */
const READS: readonly (readonly [why: string, ...probes: string[]])[] = [
  ['the animals', 'GET /pets?limit=100'],
  ['the stock', 'GET /inventory'],
  ['the orders', 'GET /store/orders'],
  ['the default limit', 'GET /pets'],
  ['the next page', 'GET /pets?limit=1', 'GET /petsNEXT', 'GET /pets?limit=1&offset=1'],
  ['a page of two animals', 'GET /pets?limit=2'],
  ['the filter', ...SEEN_ANIMAL_STATUSES.map((status) => `GET /pets?limit=100&status=${status}`)],
  ['an animal of the list', 'GET /pets/LISTED'],
  ['an id that no animal has', 'GET /pets/UNKNOWN'],
  ['a limit that is not an integer', 'GET /pets?limit=abc'],
  ['an id that is not an integer', 'GET /pets/abc'],
  ['a limit below 1', 'GET /pets?limit=0'],
  ['a limit above 100', 'GET /pets?limit=101'],
  ['a status never seen', `GET /pets?limit=100&status=${UNKNOWN_WORD}`],
  ['an unknown query parameter', `GET /store/orders?${UNKNOWN_WORD}=1`],
  ['that orders have no pages', 'GET /store/orders?limit=1'],
  ['a method that the path does not have', 'GET /store/orders/UNKNOWN'],
  ['a missing key', 'without a key: GET /pets?limit=7'],
  ['a missing key', 'without a key: GET /pets/UNKNOWN'],
  ['a missing key', 'without a key: GET /inventory'],
  ['a missing key', 'without a key: GET /store/orders'],
  ['a missing key with a wrong limit', 'without a key: GET /pets?limit=xyz'],
  ['a made-up key', 'with an unknown key: GET /pets?limit=8'],
  ['an invalid key', 'with the invalid key: GET /pets?limit=9'],
  ['a page of another origin', 'from another origin: GET /pets?limit=3'],
  ['the preflight for a page of another origin', 'preflight: OPTIONS /pets'],
  ['many requests in a second', `${BURST} times: GET /pets?limit=6`],
];

// biome-ignore format: a row for each
const WRITES: typeof READS = [
  ['an animal without a status', `POST /pets {"name":"${CHECK_NAME}: no status","categoryId":${LARGE}}`, ...LATER],
  ['stock of a new animal', `POST /pets ${animal('stock', ',"status":"pending"')}`, ...stock('NEW'), ...LATER],
  ['wrong stock', `POST /pets ${animal('wrong stock')}`, ...badStock('NEW')],
  // Sent before the next row, which changes the stock for good.
  ['wrong stock', ...badStock('STOCK')],
  ['stock', ...stock('STOCK'), 'later: GET /pets/STOCK', 'later: GET /inventory'],
  ['a name of 256 characters', `POST /pets {"name":"${LONG_NAME}","categoryId":1}`],
  ['a missing key', `without a key: POST /pets ${animal('no key')}`],
  ['a missing key with a wrong name', 'without a key: POST /pets {"name":"","categoryId":1}'],
  ['a missing key', 'without a key: PATCH /inventory/UNKNOWN {"quantity":4}'],
  ['a body with an id', `POST /pets ${animal('id', `,"id":${SENT_ID}`)}`],
  ['an unknown field', `POST /pets ${animal('field', `,"${UNKNOWN_WORD}":1`)}`],
  ['a status never seen', `POST /pets ${animal('status', `,"status":"${UNKNOWN_WORD}"`)}`],
  ['a missing field', `POST /pets {"name":"${CHECK_NAME}: no category"}`],
  ['a body that is not declared as JSON', `as text/plain: POST /pets ${animal('text/plain')}`],
  ['a body of 11 KiB', `POST /pets ${padded(10)}`],
  ['a body of 1025 KiB', `POST /pets ${padded(1024)}`],
  ['a read-only key', 'with the read-only key: GET /pets?limit=4', `with the read-only key: POST /pets ${animal('read-only key')}`],
  ['an order that does not exist', 'DELETE /store/orders/UNKNOWN'],
  ['a missing key', 'without a key: DELETE /store/orders/UNKNOWN'],
  ['an order to cancel', 'once: DELETE /store/orders/CANCEL', 'DELETE /store/orders/CANCEL', 'later: GET /store/orders', 'later: GET /inventory'],
  ['a shipped order', 'DELETE /store/orders/SHIPPED'],
  ['a cancelled order', 'DELETE /store/orders/CANCELLED'],
];

export const OVERDUE = '--cancel ID of a pending order past its shipDate';

/** Probes that are never sent, and what they would need, to explain why something stays open. */
const UNASKED: typeof READS = [
  [
    'an animal with an empty name, which would not show where it comes from',
    'POST /pets {"name":"","categoryId":1}',
  ],
  ['a deployment whose clock is past 2030-12-05', 'after the sunset: GET /pets/LISTED'],
  [OVERDUE, 'DELETE /store/orders/OVERDUE'],
];

/** What probes that match a pattern need. */
const NEEDS: readonly (readonly [
  line: RegExp,
  text: string,
  isMet: (flags: DeploymentFlags) => unknown,
])[] = [
  [/^(?:[^{]*: )?(?:POST|PATCH|DELETE) /, '--writes', ({ writes }) => writes],
  [/CANCEL$/, '--cancel ID', ({ cancel }) => cancel?.length],
  [/SHIPPED$/, '--shipped ID', ({ shipped }) => shipped?.length],
  [/CANCELLED$/, '--cancelled ID', ({ cancelled }) => cancelled?.length],
  [/STOCK\b/, '--stock ID', ({ stock }) => stock !== undefined],
  [/read-only key:/, '--read-only-key KEY', ({ readOnlyKey }) => readOnlyKey],
  [/invalid key:/, '--invalid-key KEY', ({ invalidKey }) => invalidKey],
  [/times:/, `--rate ${BURST} or more`, ({ rate = DEPLOYMENT_DEFAULTS.rate }) => rate >= BURST],
];

const FORM = /^(?:([^:{]*): )?([A-Z]+) (\S+)(?: (.*))?$/s;

function readProbe(line: string): Probe {
  const [, text = '', method = '', path = '', body] = FORM.exec(line) ?? [];
  const names = text.split(', ');
  const shown = names.filter((name) => /^(?:with|as |from|\d)/.test(name)).join(', ');
  const modifiers = names.map((name) => MODIFIERS[name] ?? {});
  return createProbe(method, path, body, Object.assign({}, ...modifiers), shown);
}

export function createProbe(
  method: string,
  path: string,
  body: string | undefined,
  modifier: Modifier,
  modifiers = '',
): Probe {
  const operation = OPERATION_IDS.find((id) => {
    const shape = operationShape(id);
    const pattern = shape.path.replace(/\{\w+\}/, '[^/?]+');
    return shape.method === method && RegExp(`^${pattern}(?:\\?.*|NEXT)?$`).test(path);
  });
  const parsed = tryParseJson(body ?? '');
  const sent = isObject(parsed) ? parsed : {};
  return { method, path, body, sent, headers: {}, times: 1, operation, modifiers, ...modifier };
}

const ROWS = [...READS, ...WRITES, ...UNASKED].map((row) => {
  const [why, ...lines] = row;
  return { why, lines, isAsked: !UNASKED.includes(row), probes: lines.map(readProbe) };
});

/**
 * All sequences in the order in which they run, with what they lack. There is one for each order
 * that a flag names. The first three read the lists from which every mock starts.
 */
export function planSequences(flags: DeploymentFlags): readonly Sequence[] {
  return ROWS.flatMap(({ why, lines, isAsked, probes }) => {
    const lacks = NEEDS.filter(([pattern, , isMet]) => {
      return lines.some((line) => pattern.test(line)) && !isMet(flags);
    });
    const needs = [...lacks.map(([, text]) => text), ...(isAsked ? [] : [why])];
    const orderName = rowNames(ORDER_FLAGS).find((name) =>
      lines.some((line) => line.endsWith(`/${name}`)),
    );
    const sequence = { why, needs, probes, orderName };
    const orders = (orderName && flags[ORDER_FLAGS[orderName]]) ?? [];
    return needs.length > 0 || orders.length === 0
      ? [sequence]
      : orders.map((order) => ({ ...sequence, order }));
  });
}

/** The requests of a check in order. Placeholders stand for values that only the deployment has. */
export function planCheck(flags: DeploymentFlags) {
  return planSequences(flags).flatMap(({ why, needs, probes, order }) =>
    (needs.length > 0 ? [] : probes).map((probe) => {
      const path = order === undefined ? probe.path : probe.path.replace(/[A-Z]{3,}$/, `${order}`);
      const times = probe.isOnce ? probe.times : probe.times * ROUNDS;
      return { request: describeProbe(probe, path), method: probe.method, times, why };
    }),
  );
}

const MAX_SHOWN_BODY = 80;

/** A request in a form to repeat with curl. */
export function describeProbe({ method, body, modifiers }: Probe, path: string): string {
  const sent = body === undefined ? '' : ` ${body.trim().slice(0, MAX_SHOWN_BODY)}`;
  const size = body !== undefined && body.length > 1024 ? ` (${body.length} bytes)` : '';
  return `${method} ${path}${sent}${size}${modifiers && ` ${modifiers}`}`;
}
