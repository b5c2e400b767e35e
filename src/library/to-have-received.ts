import { isDeepStrictEqual } from 'node:util';
import { type Int64, parseInt64, writeJson } from '../contract/json.ts';
import {
  type OPERATIONS,
  type OperationId,
  type OperationShape,
  operationShape,
} from '../contract/operations.ts';
import { type Fields, type FieldValues, isObject } from '../contract/records.ts';
import type { RecordedExchange } from '../control/journal/exchange-text.ts';
import { parseTarget } from '../http/target.ts';
import { countText } from '../words.ts';
import { formatExchange } from './for-tests.ts';
import type { MockSandbox } from './mock-sandbox.ts';

interface InputValues extends Omit<FieldValues, 'int64'> {
  readonly int64: Int64;
}

/** Of any runner. The members are optional since Playwright types them as a record of anything. */
interface AsymmetricMatcher {
  asymmetricMatch?(value: unknown): boolean;
  readonly sample?: unknown;
  toAsymmetricMatcher?(): string;
}

type Operation<Id extends OperationId> = (typeof OPERATIONS)[Id];

type Parameters<Id extends OperationId> = {
  readonly [P in Operation<Id>['parameters'][number] as P['name']]?:
    | InputValues[P['type']]
    | AsymmetricMatcher;
};

type BodyFields<Id extends OperationId> =
  Operation<Id> extends { readonly body: { readonly fields: infer F extends Fields } }
    ? { readonly [Name in keyof F]?: InputValues[F[Name]['type']] | AsymmetricMatcher }
    : unknown;

/** An operation, and some of the parameters and body fields of a call. */
export type ExpectedCall = {
  readonly [Id in OperationId]: [operation: Id, inputs?: Parameters<Id> & BodyFields<Id>];
}[OperationId];

/** What `expect(mock)` can do. */
export interface MockMatchers {
  /**
   * Passes if a client has made such a call. Only the inputs given are compared; asymmetric matchers
   * work for each of them.
   *
   * @example await expect(mock).toHaveReceived('createPet', { name: 'Rex' });
   */
  toHaveReceived(...call: ExpectedCall): Promise<void>;
}

interface MatchResult {
  readonly pass: boolean;
  message(): string;
}

export async function toHaveReceived(
  mock: Pick<MockSandbox, 'name' | 'requests'>,
  ...[operation, inputs = {}]: ExpectedCall
): Promise<MatchResult> {
  if (typeof mock?.requests?.list !== 'function')
    throw new TypeError('toHaveReceived: expected a mock, as in expect(mock).toHaveReceived(…)');
  const calls = (await mock.requests.list({ operation })).map((exchange) => ({
    exchange,
    differences: listDifferences(operation, exchange, Object.entries(inputs)),
  }));
  const found = calls.filter(({ differences }) => differences.length === 0);
  const wanted = [operation, ...formatInputs(inputs)].join(' with ');
  const where = `sandbox ${mock.name}`;
  if (found.length > 0) {
    const lines = found.slice(0, MAX_SHOWN).map(({ exchange }) => formatExchange(exchange));
    const message = [`expected no call of ${wanted}`, '', `${where} received:`, ...lines].join(
      '\n',
    );
    return { pass: true, message: () => message };
  }
  const lines =
    calls.length > 0
      ? [
          `The nearest of ${countText(calls.length, 'call')} of ${operation} in ${where}:`,
          ...formatNearest(calls),
        ]
      : [
          `${where} received no call of ${operation}, but:`,
          ...formatOthers(await mock.requests.list()),
        ];
  const message = [`expected a call of ${wanted}`, '', ...lines].join('\n');
  return { pass: false, message: () => message };
}

const MAX_SHOWN = 3;
const MAX_OTHERS = 10;

interface ComparedCall {
  readonly exchange: RecordedExchange;
  readonly differences: readonly string[];
}

/** The calls with the fewest differences, the latest first. */
function formatNearest(calls: readonly ComparedCall[]): string[] {
  return calls
    .toReversed()
    .sort((a, b) => a.differences.length - b.differences.length)
    .slice(0, MAX_SHOWN)
    .flatMap(({ exchange, differences }) => [
      formatExchange(exchange),
      ...differences.map((line) => `     ${line}`),
    ]);
}

function formatOthers(exchanges: readonly RecordedExchange[]): string[] {
  if (exchanges.length === 0) return ['  nothing at all'];
  const more = exchanges.length - MAX_OTHERS;
  return [
    ...(more > 0 ? [`  (${countText(more, 'earlier call')})`] : []),
    ...exchanges
      .slice(-MAX_OTHERS)
      .map((exchange) => `${formatExchange(exchange)}, ${exchange.operation ?? 'no operation'}`),
  ];
}

function formatInputs(inputs: object): string[] {
  const parts = Object.entries(inputs).map(([name, value]) => `${name} ${formatValue(value)}`);
  return parts.length === 0 ? [] : [parts.join(', ')];
}

function isAsymmetric(
  value: unknown,
): value is AsymmetricMatcher & Required<Pick<AsymmetricMatcher, 'asymmetricMatch'>> {
  return isObject(value) && typeof value.asymmetricMatch === 'function';
}

function formatValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (!isAsymmetric(value)) return writeJson(value);
  const name = value.toAsymmetricMatcher?.() ?? String(value);
  // The sample of `expect.any` is a class, which its name says.
  return ['undefined', 'function'].includes(typeof value.sample) ? name : `${name} ${value.sample}`;
}

function listDifferences(
  operation: OperationId,
  exchange: RecordedExchange,
  expected: readonly (readonly [name: string, value: unknown])[],
): string[] {
  const inputs = readInputs(operationShape(operation), exchange);
  const lost = exchange.request.cut ? ' (the journal has dropped the body)' : '';
  return expected.flatMap(([name, wanted]) => {
    const found = inputs.get(name);
    const matches = isAsymmetric(wanted)
      ? wanted.asymmetricMatch(found)
      : isDeepStrictEqual(found, normalize(wanted));
    return matches
      ? []
      : `${name}: expected ${formatValue(wanted)}, found ${formatValue(found)}${lost}`;
  });
}

function readInputs(
  { parameters }: OperationShape,
  { target, request }: RecordedExchange,
): ReadonlyMap<string, unknown> {
  const { pathId, search } = parseTarget(target);
  const query = new URLSearchParams(search);
  const inputs = new Map<string, unknown>(query);
  for (const { name, type, in: place } of parameters) {
    const text = place === 'path' ? pathId : query.get(name);
    if (text === undefined || text === null) continue;
    const integer = type === 'string' ? undefined : parseInt64(text);
    inputs.set(name, integer === undefined ? text : normalize(integer));
  }
  const fields = isObject(request.body) ? Object.entries(request.body) : [];
  for (const [name, value] of fields) inputs.set(name, normalize(value));
  return inputs;
}

/** An integer is a bigint only if a double would lose digits. */
function normalize(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
