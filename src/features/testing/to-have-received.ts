import type { MockSandbox } from '../../client/mock-sandbox.ts';
import {
  OPERATIONS,
  type OperationId,
  type OperationShape,
  operationShape,
} from '../../core/contract/operations.ts';
import { parseTarget } from '../../core/contract/target.ts';
import type { RecordedExchange } from '../../core/control/journal/recorded-exchange.ts';
import { isObject, parseInt64 } from '../../core/json.ts';
import type { InputOf } from '../../core/shape/shapes.ts';
import { isRowName } from '../../core/tables.ts';
import { countText, describe, suggest } from '../../core/words.ts';
import { summarizeExchange } from './test-sandbox.ts';

/** An asymmetric matcher of any runner. Playwright's type for one is a record of anything. */
interface AsymmetricMatcher {
  asymmetricMatch?(value: unknown): boolean;
}

type OperationRow<Id extends OperationId> = (typeof OPERATIONS)[Id];

type Parameters<Id extends OperationId> = {
  readonly [P in OperationRow<Id>['parameters'][number] as P['name']]?:
    | InputOf<P['shape']>
    | AsymmetricMatcher;
};

type BodyFields<Id extends OperationId> =
  OperationRow<Id> extends { readonly body: { readonly shape: infer S } }
    ? { readonly [Name in keyof InputOf<S>]?: InputOf<S>[Name] | AsymmetricMatcher }
    : unknown;

/** An operation, and some of the parameters and body fields that a call should have. */
export type ExpectedCall = {
  readonly [Id in OperationId]: [operation: Id, inputs?: Parameters<Id> & BodyFields<Id>];
}[OperationId];

/** The matchers of `expect(mock)`. */
export interface MockMatchers {
  /**
   * Passes if a client made such a call. Only the given inputs are compared. Each may be an
   * asymmetric matcher.
   *
   * @example await expect(mock).toHaveReceived('createPet', { name: 'Rex' });
   */
  toHaveReceived(...call: ExpectedCall): Promise<void>;
}

/** The members of `this` in a matcher that all three runners provide. */
interface MatcherState {
  readonly utils: { stringify(value: unknown): string };
}

const MAX_SHOWN = 3;
const MAX_OTHERS = 10;

export async function toHaveReceived(
  this: MatcherState,
  mock: Pick<MockSandbox, 'name' | 'requests'>,
  ...[operation, inputs = {}]: ExpectedCall
): Promise<{ readonly pass: boolean; message(): string }> {
  if (typeof mock?.requests?.list !== 'function')
    throw new TypeError('toHaveReceived: expected a mock, as in expect(mock).toHaveReceived(…)');
  refuseTypos(operation, Object.keys(inputs));
  const expected = Object.entries(inputs).map(([name, value]) => {
    return { name, value, text: this.utils.stringify(value) };
  });
  const calls = (await mock.requests.list({ operation })).map((exchange) => {
    const found = readInputs(operationShape(operation), exchange);
    const isCut = exchange.request.cut === true;
    const different = expected.filter(({ name, value }) => !matches(value, found.get(name)));
    const differences = different.map(({ name, text }) => {
      const lost = isCut ? ' (the journal has dropped the body)' : '';
      return `${name}: expected ${text}, found ${this.utils.stringify(found.get(name))}${lost}`;
    });
    const mayMatch = isCut && different.every(({ name }) => !found.has(name));
    return { exchange, differences, mayMatch };
  });
  const matching = calls.filter(({ differences }) => differences.length === 0);
  if (matching.length === 0) {
    // This throws if the journal has dropped exchanges that may match.
    await mock.requests.count({ operation });
    if (calls.some(({ mayMatch }) => mayMatch))
      throw new Error(`calls of ${operation} may match whose bodies the journal has dropped`);
  }
  const values = expected.map(({ name, text }) => `${name} ${text}`).join(', ');
  const wanted = `call of ${operation}${values && ` with ${values}`}`;
  const where = `sandbox ${mock.name}`;
  const pass = matching.length > 0;
  const lines = pass
    ? [
        `${where} received:`,
        ...matching.slice(0, MAX_SHOWN).map(({ exchange }) => summarizeExchange(exchange)),
      ]
    : calls.length > 0
      ? [
          `The nearest of ${countText(calls.length, 'call')} of ${operation} in ${where}:`,
          ...formatNearest(calls),
        ]
      : [
          `${where} received no call of ${operation}, but:`,
          ...formatOthers(await mock.requests.list()),
        ];
  const message = [`expected ${pass ? 'no' : 'a'} ${wanted}`, '', ...lines].join('\n');
  return { pass, message: () => message };
}

/** Refuses unknown inputs that look like a typo, which would never match. */
function refuseTypos(operation: OperationId, names: readonly string[]): void {
  // An unknown operation is refused by the server.
  if (!isRowName(OPERATIONS, operation)) return;
  const { parameters, body } = operationShape(operation);
  const known = [...parameters.map(({ name }) => name), ...Object.keys(body?.shape.members ?? {})];
  for (const name of names.filter((it) => !known.includes(it))) {
    const hint = suggest(name, known);
    if (hint === '') continue;
    throw new TypeError(`toHaveReceived: ${operation} has no input ${describe(name)}${hint}`);
  }
}

function matches(wanted: unknown, found: unknown): boolean {
  return isAsymmetric(wanted) ? wanted.asymmetricMatch(found) : found === normalize(wanted);
}

function isAsymmetric(value: unknown): value is Required<AsymmetricMatcher> {
  return isObject(value) && typeof value.asymmetricMatch === 'function';
}

interface ComparedCall {
  readonly exchange: RecordedExchange;
  readonly differences: readonly string[];
}

function formatNearest(calls: readonly ComparedCall[]): string[] {
  return calls
    .toReversed()
    .sort((a, b) => a.differences.length - b.differences.length)
    .slice(0, MAX_SHOWN)
    .flatMap(({ exchange, differences }) => [
      summarizeExchange(exchange),
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
      .map((exchange) => `${summarizeExchange(exchange)}, ${exchange.operation ?? 'no operation'}`),
  ];
}

function readInputs(
  { parameters }: OperationShape,
  { target, request }: RecordedExchange,
): ReadonlyMap<string, unknown> {
  const { pathId, search } = parseTarget(target);
  const query = new URLSearchParams(search);
  // Of repeated parameters the service uses the first.
  const inputs = new Map<string, unknown>([...query].toReversed());
  for (const { name, shape, in: place } of parameters) {
    const text = place === 'path' ? pathId : query.get(name);
    if (text === undefined || text === null) continue;
    const integer = shape.schema.type === 'string' ? undefined : parseInt64(text);
    inputs.set(name, integer === undefined ? text : normalize(integer));
  }
  const fields = isObject(request.body) ? Object.entries(request.body) : [];
  for (const [name, value] of fields) inputs.set(name, normalize(value));
  return inputs;
}

/** Integers become numbers unless a double would lose digits. */
function normalize(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
