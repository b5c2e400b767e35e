import { stringify } from 'lossless-json';
import type { RecordedExchange } from '../../control/control-shapes.ts';

type Operation = NonNullable<RecordedExchange['operation']>;

/** What a rule can match of a request to each operation; the id of the path comes first. */
const INPUTS: Readonly<Record<Operation, readonly string[]>> = {
  listPets: ['limit', 'status'],
  createPet: ['name', 'categoryId', 'status'],
  getPet: ['petId'],
  listInventory: [],
  updateInventory: ['petId', 'quantity'],
  listOrders: [],
  cancelOrder: ['orderId'],
};

/** A scenario file with a rule that gives requests like this one the same status or fault. */
export function ruleOf(exchange: RecordedExchange, operation: Operation): string {
  const { method, target, status, fault } = exchange;
  const path = target.split('?', 1)[0] ?? '';
  const where = whereOf(exchange, operation);
  const when = where.length > 0 ? `where: { ${where.join(', ')} }, ` : '';
  const isFault = fault !== undefined || status === undefined;
  const effect = isFault ? `fault: ${fault ?? 'close'}` : `reply: { status: ${status} }`;
  const gets = isFault ? `the fault ${fault ?? 'close'}` : status;
  return scenarioWith(`${method} ${path} gets ${gets}.`, operation, when, effect);
}

/** A scenario file that gives the next call of an operation a status. */
export function ruleFor(operation: Operation, status: number): string {
  const effect = `reply: { status: ${status} }`;
  return scenarioWith(`The next ${operation} gets ${status}.`, operation, 'calls: 1, ', effect);
}

function scenarioWith(
  description: string,
  operation: Operation,
  when: string,
  effect: string,
): string {
  return `description: ${JSON.stringify(description)}
rules:
  - { on: ${operation}, ${when}${effect} }
`;
}

/** What distinguishes the request from others of its operation: its path, query and body. */
function whereOf({ target, request }: RecordedExchange, operation: Operation): string[] {
  const { pathname, searchParams } = new URL(target, location.origin);
  const values = new Map<string, string>();
  const [id = ''] = INPUTS[operation];
  const last = pathname.split('/').at(-1) ?? '';
  if (id.endsWith('Id') && INTEGER.test(last)) values.set(id, last);
  for (const [name, value] of searchParams) {
    values.set(name, INTEGER.test(value) ? value : JSON.stringify(value));
  }
  for (const [name, value] of Object.entries(Object(request.body))) {
    if (typeof value !== 'object') values.set(name, String(stringify(value)));
  }
  return INPUTS[operation].flatMap((name) => {
    const value = values.get(name);
    return value === undefined ? [] : [`${name}: ${value}`];
  });
}

const INTEGER = /^-?\d{1,19}$/;
