import { INTEGER_TEXT, isObject, type Json, parseInput } from '../json.ts';
import { LIMITS } from '../limits.ts';
import type { Reading } from '../problems.ts';
import { readAs, type Shape } from '../shape/shapes.ts';
import { type ControlRequest, type Endpoint, YAML_TYPE } from './endpoint.ts';
import { type ControlReply, refuse, refuseInput } from './reply.ts';

const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i;

const YAML = /^\s*application\/yaml\s*(?:;|$)/i;

interface BodyReading {
  readonly value?: unknown;
  readonly refusal?: ControlReply;
}

/** Every body needs a media type, read or not, so that forms on other sites cannot make calls. */
export async function readBody(
  request: ControlRequest,
  expected: Endpoint['body'],
): Promise<BodyReading> {
  const { headers } = request;
  const type = String(headers['content-type'] ?? '');
  const coding = String(headers['content-encoding'] ?? '');
  const isAnnounced =
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  const isYaml = expected?.asText === true && YAML.test(type);
  if (isAnnounced && !JSON_TYPE.test(type) && !isYaml) {
    const types = expected?.asText ? `application/json or ${YAML_TYPE}` : 'application/json';
    return refuseBody('unsupported_media_type', 415, `expected a body of type ${types}`);
  }
  if (isAnnounced && !/^(?:identity)?$/i.test(coding)) {
    return refuseBody('unsupported_media_type', 415, 'expected a body without Content-Encoding');
  }
  if (expected === undefined) return {};
  const body = await request.readBody(LIMITS.controlBody);
  if (body.kind === 'too-large') {
    return refuseBody('body_too_large', 413, `the body is larger than ${LIMITS.controlBody} bytes`);
  }
  if (body.kind === 'none' && !expected.optional) {
    return refuseBody('invalid_input', 400, 'expected a body, found nothing');
  }
  let value: unknown = {};
  try {
    if (body.kind !== 'none') {
      const text = new TextDecoder('utf-8', { fatal: true }).decode(body.bytes);
      const format = isYaml ? 'yaml' : 'json';
      value = expected.asText ? { format, text } : parseInput(text);
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return refuseBody('invalid_input', 400, `the body cannot be read: ${why}`);
  }
  const reading = readAs(expected.shape, value);
  return reading.ok ? reading : { refusal: refuseInput(reading.problems) };
}

function refuseBody(...refusal: Parameters<typeof refuse>): BodyReading {
  return { refusal: refuse(...refusal) };
}

/** Reads a query as an object. Converts the text of integers and booleans first. */
export function readQuery<T>(shape: Shape<T>, query: URLSearchParams): Reading<T> {
  const properties = readProperties(shape.schema);
  const values = [...new Set(query.keys())].map((name) => {
    const [text = '', ...more] = query.getAll(name);
    const type = Object.hasOwn(properties, name) ? properties[name]?.type : undefined;
    return [name, more.length > 0 ? [text, ...more] : parseValue(type, text)] as const;
  });
  return readAs(shape, Object.fromEntries(values), 'query');
}

export function readProperties({ properties }: Json): Readonly<Record<string, Json>> {
  return isObject(properties) ? Object(properties) : {};
}

function parseValue(type: unknown, text: string): unknown {
  if (type === 'integer' && INTEGER_TEXT.test(text)) return Number(text);
  // `?all` is short for `?all=true`.
  if (type === 'boolean' && ['', 'true', 'false'].includes(text)) return text !== 'false';
  return text;
}
