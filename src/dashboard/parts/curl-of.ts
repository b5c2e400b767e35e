import type { RecordedExchange } from '../../control/control-shapes.ts';
import { curlCommand } from '../../curl.ts';
import { writeExact } from '../client/exact-json.ts';
import { DEFAULT_SANDBOX, sandbox } from '../state/session.ts';

/** The keys that work out of the box, by what the journal keeps of them. */
const KNOWN_KEYS: Readonly<Record<string, string>> = {
  'demo…': 'demo-key',
  'stag…': 'staging-key',
};

/** Headers that curl writes itself, and those whose values are masked. */
const LEFT_OUT =
  /^(?:host|connection|content-length|transfer-encoding|accept-encoding|user-agent|authorization|proxy-authorization|cookie|mock-control-token|sec-.*)$/;

/** The journal cuts longer targets. */
const LONGEST_TARGET = 2_047;

/** Why no curl command can send the request of an exchange again; undefined if one can. */
export function whyNoCurl({ target, request }: RecordedExchange): string | undefined {
  const { headers, body, cut } = request;
  if (!target.startsWith('/')) return 'The target of the request is not a path.';
  if (target.length > LONGEST_TARGET) return 'The journal has only the start of the path.';
  if (cut) return 'The journal has only the start of the body.';
  const hadBody = 'transfer-encoding' in headers || (headers['content-length'] ?? '0') !== '0';
  if (hadBody && body === undefined) return 'The journal does not have the body.';
  const hasNull = typeof body === 'string' && body.includes('\0');
  return hasNull ? 'A command line cannot contain the null byte in the body.' : undefined;
}

/** A curl command that sends the request of an exchange to this server again. */
export function curlOf({ method, target, key, request }: RecordedExchange): string {
  const { headers, body } = request;
  const kept = Object.entries(headers).filter(([name]) => !LEFT_OUT.test(name));
  const ofKey =
    key === undefined
      ? []
      : [['Authorization', `Bearer ${keyLike(key, target, headers)}`] as const];
  return curlCommand({
    method,
    // Not resolved as a link would be: `//other.example/v1/pets` is a path here.
    url: location.origin + target.replaceAll('#', '%23'),
    headers: [...ofKey, ...kept],
    body: body === undefined || typeof body === 'string' ? body : writeExact(body),
  });
}

/** The journal keeps only the start of a key. One that works also has to name the sandbox. */
function keyLike(start: string, target: string, headers: object): string {
  const key = KNOWN_KEYS[start];
  if (key === undefined) return `KEY_THAT_STARTS_WITH_${start}`;
  const isNamed =
    sandbox === DEFAULT_SANDBOX || target.startsWith('/~') || 'mock-sandbox' in headers;
  return isNamed ? key : `${key}~${sandbox}`;
}
