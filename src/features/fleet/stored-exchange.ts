import type { Exchange } from '../../core/sandbox/exchange.ts';
import { withoutBodies } from '../../core/sandbox/journal.ts';
import { corruptDataError } from './state-parts.ts';

/** The largest body that is kept, in bytes: every server reads it, for each exchange. */
const MAX_BODY_BYTES = 16 * 1024;

type Body = Exchange['request']['body'];

/** A body in JSON, which has no type for bytes. */
type Packed = string | { readonly latin1: string } | undefined;

const pack = (body: Body): Packed =>
  typeof body === 'object' ? { latin1: Buffer.from(body).toString('latin1') } : body;

const unpack = (body: Packed): Body =>
  typeof body === 'object' ? Buffer.from(body.latin1, 'latin1') : body;

/** Writes the head, which most reads need, apart from the rest, which only text searches need. */
export function writeExchange(exchange: Exchange): readonly [head: string, rest: string] {
  const { request, reply, ...members } = withoutBodies(exchange, MAX_BODY_BYTES);
  const { body, decoded, ...others } = request;
  const rest = { body: pack(body), decoded, reply: reply && { ...reply, body: pack(reply.body) } };
  return [JSON.stringify({ ...members, request: others }), JSON.stringify(rest)];
}

/** @param rest left out if it is not needed */
export function readExchange(number: number, head: string, rest = '{}'): Exchange {
  try {
    const { request, ...members } = JSON.parse(head);
    const { body, decoded, reply } = JSON.parse(rest);
    return {
      ...members,
      number,
      request: { ...request, body: unpack(body), decoded },
      reply: reply && { ...reply, body: unpack(reply.body) },
    };
  } catch (error) {
    throw corruptDataError(`exchange ${number}`, error);
  }
}
