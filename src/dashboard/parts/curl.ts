import type { RecordedExchange } from '../../control/control-shapes.ts';
import { writeExact } from '../client/exact-json.ts';

/** The key that works out of the box. */
const DEMO_KEY = 'demo-key';

/** A curl command that sends the request of an exchange again. */
export function curlOf({ method, target, key, request }: RecordedExchange): string {
  const words = ['curl', '-i'];
  if (method !== 'GET') words.push('-X', quoted(method));
  if (key !== undefined) words.push('-H', quoted(`Authorization: Bearer ${keyLike(key)}`));
  if (request.body !== undefined) {
    const text = typeof request.body === 'string' ? request.body : writeExact(request.body);
    words.push('-H', quoted('Content-Type: application/json'), '--data-binary', quoted(text));
  }
  words.push(quoted(new URL(target, location.origin).href));
  return words.join(' ');
}

/** The journal keeps only the first characters of a key. */
function keyLike(start: string): string {
  return start === `${DEMO_KEY.slice(0, 4)}…` ? DEMO_KEY : `KEY_THAT_STARTS_WITH_${start}`;
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
