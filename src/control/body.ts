import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { parseJson } from '../contract/json.ts';
import { receiveBody } from '../http/receive-body.ts';
import type { RequestBody } from '../service/input.ts';
import { type ControlReply, type Endpoint, refuse, YAML_TYPE } from './endpoint.ts';

const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i;

/** Its media type, and those that were in use before. */
const YAML = /^\s*(?:application|text)\/(?:x-)?yaml\s*(?:;|$)/i;

/** In bytes. To parse and read so many takes up to 100 ms. */
const MOST_BYTES = 1024 ** 2;

type BodyReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly refusal: ControlReply };

/**
 * Receives and parses a request's body. The media type of every body must be declared, even if no
 * endpoint reads it: a form on another website cannot do that.
 */
export async function readBody(
  request: IncomingMessage,
  shape: Endpoint['body'],
): Promise<BodyReading> {
  const { headers } = request;
  const { 'content-type': type = '' } = headers;
  const announced =
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  const asText = shape?.asText === true;
  if (announced && !JSON_TYPE.test(type) && !(asText && YAML.test(type))) {
    const expected = asText ? `application/json or ${YAML_TYPE}` : 'application/json';
    return refused('unsupported_media_type', 415, `expected a body of type ${expected}`);
  }
  if (announced && !/^(?:identity)?$/i.test(headers['content-encoding'] ?? '')) {
    return refused('unsupported_media_type', 415, 'expected a body without Content-Encoding');
  }
  if (shape === undefined) return NOTHING;
  const body = await new Promise<RequestBody>((received) => {
    receiveBody(request, MOST_BYTES, received);
  });
  switch (body.kind) {
    case 'none':
      if (shape.optional) return NOTHING;
      return refused('invalid_input', 400, 'expected a body, found nothing');
    case 'too-large':
      return refused('body_too_large', 413, 'the body is larger than 1 MiB');
    case 'bytes':
      return asText ? textOf(body.bytes, YAML.test(type)) : parsed(body.bytes);
  }
}

const NOTHING: BodyReading = { ok: true, value: undefined };

function textOf(bytes: Buffer, isYaml: boolean): BodyReading {
  if (!isUtf8(bytes)) return refused('invalid_input', 400, 'the body is not UTF-8');
  return { ok: true, value: { format: isYaml ? 'yaml' : 'json', text: bytes.toString() } };
}

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
