import type { RecordedExchange } from '../../control/control-shapes.ts';
import { escaped } from '../output/escaped.ts';
import { type Result, tableOf } from './result.ts';

/** What a table shows of exchanges. */
export function exchangeTable(exchanges: readonly RecordedExchange[]): Result {
  return tableOf(exchanges, {
    number: ({ number }) => number,
    method: ({ method }) => method,
    target: ({ target }) => target,
    status: replied,
    basis: grounds,
  });
}

/** An exchange as a line, for a list that grows. */
export function exchangeLine(exchange: RecordedExchange): string {
  const { number, method, target } = exchange;
  return `${number} ${method} ${escaped(target)} ${replied(exchange)} ${grounds(exchange)}\n`;
}

function replied({ status, fault }: RecordedExchange): string {
  return [status, fault].filter((part) => part !== undefined).join(' ');
}

function grounds({ basis, by }: RecordedExchange): string {
  return by.length === 0 ? basis : `${basis}: ${by.join(', ')}`;
}
