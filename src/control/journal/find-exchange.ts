import { isIntegerText } from '../../contract/json.ts';
import type { Exchange } from '../../sandbox/exchange.ts';
import { describe } from '../../words.ts';
import type { ControlCall } from '../endpoint.ts';
import { type ControlReply, refuse } from '../reply.ts';

/** The exchange that a call names in its path, or why there is none. */
type Found =
  | { readonly exchange: Exchange; readonly refusal?: undefined }
  | { readonly exchange?: undefined; readonly refusal: ControlReply };

export async function findExchange({
  sandbox: { journal },
  params: { number = '' },
}: Pick<ControlCall, 'sandbox' | 'params'>): Promise<Found> {
  const exchange = isIntegerText(number) ? await journal.find(Number(number)) : undefined;
  if (exchange !== undefined) return { exchange };
  const { number: latest, size } = await journal.size();
  const oldest = latest - size + 1;
  const one = oldest === latest ? `only exchange ${latest} is` : 'none is';
  const left = oldest < latest ? `exchanges ${oldest} to ${latest} are` : one;
  const isCleared = /^[1-9]\d*$/.test(number) && Number(number) < oldest;
  const what = isCleared
    ? `exchange ${number} was cleared`
    : `there is no exchange ${describe(number)}`;
  return { refusal: refuse('not_found', 404, `${what}; ${left} left`) };
}
