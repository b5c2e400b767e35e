import type { RecordedExchange } from '../../control/control-shapes.ts';
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

/** A curl command that sends the request of an exchange again. */
export function curlOf({ method, target, key, request }: RecordedExchange): string {
  const { headers, body } = request;
  const words = ['curl', '-i'];
  if (method !== 'GET') words.push('-X', quoted(method));
  if (key !== undefined) {
    words.push('-H', quoted(`Authorization: Bearer ${keyLike(key, target, headers)}`));
  }
  for (const [name, value] of Object.entries(headers)) {
    if (!LEFT_OUT.test(name)) words.push('-H', quoted(`${name}: ${value}`));
  }
  if (body !== undefined) {
    words.push('--data-binary', quoted(typeof body === 'string' ? body : writeExact(body)));
  }
  words.push(quoted(new URL(target, location.origin).href));
  return words.join(' ');
}

/** The journal keeps only the start of a key. One that works also has to name the sandbox. */
function keyLike(start: string, target: string, headers: object): string {
  const key = KNOWN_KEYS[start];
  if (key === undefined) return `KEY_THAT_STARTS_WITH_${start}`;
  const isNamed =
    sandbox === DEFAULT_SANDBOX || target.startsWith('/~') || 'mock-sandbox' in headers;
  return isNamed ? key : `${key}~${sandbox}`;
}

/** A word for a POSIX shell. Control characters become escapes, which a terminal cannot act on. */
function quoted(text: string): string {
  if (/^[\w./:-]+$/.test(text)) return text;
  if (!/\p{Cc}/u.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  const escaped = text.replaceAll(/[\\']/g, '\\$&').replaceAll(/\p{Cc}/gu, escapeOf);
  return `$'${escaped}'`;
}

function escapeOf(character: string): string {
  if (character === '\n') return '\\n';
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
