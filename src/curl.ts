import { escapeCharacter } from './words.ts';

export interface CurlRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string | undefined;
}

/**
 * A curl command for a POSIX shell. It sends exactly this request: curl reads no file for a body that
 * starts with `@`, expands no brackets in the URL, and adds no media type.
 *
 * @param options what follows `curl`, as words that need no quotes
 */
export function curlCommand(
  { method, url, headers, body }: CurlRequest,
  options: readonly string[] = ['-i'],
): string {
  const hasType = headers.some(([name]) => name.toLowerCase() === 'content-type');
  const all = body === undefined || hasType ? headers : [...headers, NO_TYPE];
  return [
    'curl',
    ...options,
    ...(/[[\]{}]/.test(url) ? ['--globoff'] : []),
    ...(/\/\./.test(url) ? ['--path-as-is'] : []),
    ...(method === 'GET' ? [] : method === 'HEAD' ? ['--head'] : ['-X', shellWord(method)]),
    ...all.flatMap((header) => ['-H', shellWord(headerLine(header))]),
    ...(body === undefined ? [] : ['--data-raw', shellWord(body)]),
    shellWord(url),
  ].join(' ');
}

const NO_TYPE = ['Content-Type', undefined] as const;

/** curl removes a header that ends in a colon, and sends an empty one that ends in a semicolon. */
function headerLine([name, value]: readonly [string, string | undefined]): string {
  if (value === undefined) return `${name}:`;
  return value === '' ? `${name};` : `${name}: ${value}`;
}

/** A word for a POSIX shell. Control characters become escapes, which a terminal cannot act on. */
export function shellWord(text: string): string {
  if (/^[\w./:-][\w./:~-]*$/.test(text)) return text;
  if (!/\p{Cc}/u.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  const escaped = text.replaceAll(/[\\']/g, '\\$&').replaceAll('\n', '\\n');
  return `$'${escaped.replaceAll(/\p{Cc}/gu, escapeCharacter)}'`;
}
