import type { IncomingMessage } from 'node:http';
import { parseJson } from '../contract/json.ts';
import { receiveBody } from '../http/decode.ts';
import type { ReceivedBody } from '../service/received-body.ts';
import { type ControlReply, type Endpoint, refuse } from './endpoint.ts';

/** In bytes. To parse and read so many takes up to 100 ms. */
const MOST_BYTES = 1024 ** 2;

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
    case 'bytes':
      return parsed(body.bytes);
  }
}

const NOTHING: BodyReading = { ok: true, value: undefined };

function parsed(bytes: Buffer): BodyReading {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { ok: true, value: parseJson(text) };
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
