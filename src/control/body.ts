import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { parsingJson } from '../contract/json.ts';
import { receiveBody } from '../http/decode.ts';
import type { ReceivedBody } from '../service/received-body.ts';
import { inTurns, type Work } from '../work.ts';
import { type ControlReply, type Endpoint, refuse } from './endpoint.ts';

/** In bytes. JSON.parse takes up to 25 ms for as many of records, and cannot yield to others. */
const MOST_BYTES = 1024 ** 2;

/** A body of more bytes is parsed in a turn of its own. */
const OWN_TURN = 64 * 1024;

type BodyReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly refusal: ControlReply };

/**
 * Receives and parses a request's body. Every body must be declared as JSON, even if no endpoint
 * reads it: a form on another website cannot do that.
 */
export async function readBody(
  request: IncomingMessage,
  shape: Endpoint['body'],
): Promise<BodyReading> {
  const { headers } = request;
  const announced =
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (announced && !isJson(headers['content-type'])) {
    return refused('unsupported_media_type', 415, 'expected a body of type application/json');
  }
  if (announced && !/^(?:identity)?$/i.test(headers['content-encoding'] ?? '')) {
    return refused('unsupported_media_type', 415, 'expected a body without Content-Encoding');
  }
  if (shape === undefined) return NOTHING;
  const { instead, optional } = shape;
  const body = await new Promise<ReceivedBody>((received) => {
    receiveBody(request, MOST_BYTES, received);
  });
  switch (body.kind) {
    case 'none':
      if (optional) return NOTHING;
      return refused('invalid_input', 400, 'expected a JSON body, found nothing');
    case 'too-large': {
      const message = 'the body is larger than 1 MiB';
      return refused('body_too_large', 413, instead ? `${message}: ${instead}` : message);
    }
    case 'bytes': {
      const reading = await inTurns(parsing(body.bytes));
      if (body.bytes.length > OWN_TURN) await setImmediate();
      return reading;
    }
  }
}

const NOTHING: BodyReading = { ok: true, value: undefined };

function* parsing(bytes: Buffer): Work<BodyReading> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { ok: true, value: yield* parsingJson(text) };
  } catch (error) {
    return refused('invalid_input', 400, `the body is not JSON: ${whyNot(error)}`);
  }
}

function whyNot(error: unknown): string {
  if (error instanceof RangeError) return 'it is nested too deeply';
  return error instanceof Error ? error.message : String(error);
}

function refused(...refusal: Parameters<typeof refuse>): BodyReading {
  return { ok: false, refusal: refuse(...refusal) };
}

function isJson(contentType = ''): boolean {
  return /^\s*application\/json\s*(?:;|$)/i.test(contentType);
}
