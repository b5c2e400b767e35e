import type { JournalPage, RecordedExchange, RequestCount } from '../control/control-shapes.ts';
import type { ExchangeFilter } from '../evidence/report-shapes.ts';
import { type ControlClient, queryOf } from './control-client.ts';

/** Selects exchanges. Every member given must match. */
export interface RequestFilter extends Omit<ExchangeFilter, 'from' | 'to'> {
  /** RFC 3339 instants of the sandbox's clock. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface ListOptions {
  readonly limit?: number | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
}

export interface WaitOptions {
  /** In milliseconds, up to a minute; 5 seconds by default. */
  readonly within?: number | undefined;
}

export async function listRequests(
  control: ControlClient,
  filter: RequestFilter & ListOptions = {},
): Promise<readonly RecordedExchange[]> {
  return (await control.call<JournalPage>('GET', `/requests${queryOf(filter)}`)).exchanges;
}

export async function countRequests(
  control: ControlClient,
  filter: RequestFilter,
): Promise<number> {
  const { count, complete } = await control.call<RequestCount>('POST', '/requests/count', filter);
  if (complete) return count;
  throw new Error(
    `at least ${count} requests match, but the journal dropped others that may match: start the server with a larger journal, or filter by a later \`from\``,
  );
}

export async function* followRequests(
  control: ControlClient,
  filter: RequestFilter,
  signal: AbortSignal | undefined,
): AsyncGenerator<RecordedExchange> {
  const path = `/requests/stream${queryOf(filter)}`;
  for await (const { name, data } of control.events<RecordedExchange>(path, signal)) {
    if (name === 'exchange') yield data;
  }
}

/** Waits until so many exchanges match, and returns them. */
export async function waitForRequests(
  control: ControlClient,
  filter: RequestFilter,
  { atLeast = 1, within = 5_000 }: WaitOptions & { readonly atLeast?: number | undefined } = {},
): Promise<readonly RecordedExchange[]> {
  const asked = { ...filter, atLeast, within: `PT${(within / 1000).toFixed(3)}S` };
  const { count } = await control.call<RequestCount>('POST', '/requests/count', asked);
  if (count >= atLeast) return listRequests(control, filter);
  const wanted = JSON.stringify(filter);
  throw new Error(`${count} of ${atLeast} requests arrived within ${within} ms: ${wanted}`);
}
