import type { IncomingMessage } from 'node:http';
import { parseInput } from '../contract/json.ts';
import { receiveBody } from '../http/service-request.ts';
import { LIMITS } from '../limits.ts';
import type { RequestBody } from '../service/input.ts';
import { type Endpoint, YAML_TYPE } from './endpoint.ts';
import { type ControlReply, refuse } from './reply.ts';

const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i;

const YAML = /^\s*application\/yaml\s*(?:;|$)/i;

interface BodyReading {
  readonly value?: unknown;
  readonly refusal?: ControlReply;
}

/**
 * Receives and parses a request's body. The media type of every body must be declared, even if no
 * endpoint reads it: a form on another website cannot do that.
 */
export async function readBody(
  request: IncomingMessage,
  shape: Endpoint['body'],
): Promise<BodyReading> {
  const { headers } = request;
  const { 'content-type': type = '', 'content-encoding': coding = '' } = headers;
  const isAnnounced =
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  const isYaml = shape?.asText === true && YAML.test(type);
  if (isAnnounced && !JSON_TYPE.test(type) && !isYaml) {
    const expected = shape?.asText ? `application/json or ${YAML_TYPE}` : 'application/json';
    return refuseBody('unsupported_media_type', 415, `expected a body of type ${expected}`);
  }
  if (isAnnounced && !/^(?:identity)?$/i.test(coding)) {
    return refuseBody('unsupported_media_type', 415, 'expected a body without Content-Encoding');
  }
  if (shape === undefined) return {};
  const body = await new Promise<RequestBody>((received) => {
    receiveBody(request, LIMITS.controlBody.max, received);
  });
  if (body.kind === 'too-large') {
    return refuseBody(
      'body_too_large',
      413,
      `the body is larger than ${LIMITS.controlBody.max} bytes`,
    );
  }
  if (body.kind === 'none') {
    if (shape.optional) return { value: {} };
    return refuseBody('invalid_input', 400, 'expected a body, found nothing');
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body.bytes);
    const format = isYaml ? 'yaml' : 'json';
    return { value: shape.asText ? { format, text } : parseInput(text) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return refuseBody('invalid_input', 400, `the body cannot be read: ${why}`);
  }
}

function refuseBody(...refusal: Parameters<typeof refuse>): BodyReading {
  return { refusal: refuse(...refusal) };
}
