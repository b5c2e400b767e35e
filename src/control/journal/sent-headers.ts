import type { Exchange } from '../../evidence/exchange.ts';
import { exposed } from '../../http/cors.ts';
import { basisHeader } from '../../http/write.ts';

/**
 * The headers of a reply as the client got them, names and values in turn, but for those of the
 * connection and the length. An exchange does not keep what the rest of it tells.
 *
 * @param plain whether the server leaves out what distinguishes it from the service
 */
export function sentHeaders(exchange: Exchange, plain: boolean): readonly string[] {
  const { at, delay, method, status, basis, replyHeaders: kept, replyBody, replyCut } = exchange;
  if (status === undefined) return kept;
  const mockBasis = plain ? [] : ['Mock-Basis', basisHeader(basis, method === 'HEAD')];
  if (basis.kind === 'upstream') return [...kept, ...mockBasis];
  const hasBody = replyBody !== undefined || replyCut;
  return [
    ...(hasBody && !has(kept, 'content-type') ? ['Content-Type', 'application/json'] : []),
    ...mockBasis,
    ...(has(kept, 'access-control-allow-origin')
      ? ['Access-Control-Expose-Headers', exposed(plain)]
      : []),
    ...(has(kept, 'date') ? [] : ['Date', new Date(at + delay).toUTCString()]),
    ...kept,
  ];
}

function has(headers: readonly string[], name: string): boolean {
  return headers.some((it, index) => index % 2 === 0 && it.toLowerCase() === name);
}
