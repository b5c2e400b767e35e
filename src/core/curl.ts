import { escapeCharacter } from './words.ts';

export interface CurlRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string | undefined;
}

export const SHELLS = ['sh', 'powershell'] as const;
export type Shell = (typeof SHELLS)[number];

/**
 * A curl command to paste into a POSIX shell or PowerShell 7. It keeps curl from reading `@` as a
 * file, expanding brackets, and adding a media type.
 */
export function curlCommand(
  { method, url, headers, body }: CurlRequest,
  options: readonly string[] = ['-i'],
  shell: Shell = 'sh',
): string {
  const word = shell === 'sh' ? shellWord : powershellWord;
  const hasType = headers.some(([name]) => name.toLowerCase() === 'content-type');
  const all = body === undefined || hasType ? headers : [...headers, NO_CONTENT_TYPE];
  return [
    // In PowerShell, `curl` can be an alias of another command.
    shell === 'sh' ? 'curl' : 'curl.exe',
    ...options,
    ...(/[[\]{}]/.test(url) ? ['--globoff'] : []),
    ...(/\/\./.test(url) ? ['--path-as-is'] : []),
    ...(method === 'GET' ? [] : method === 'HEAD' ? ['--head'] : ['-X', word(method)]),
    ...all.flatMap((header) => ['-H', word(headerLine(header))]),
    ...(body === undefined ? [] : ['--data-raw', word(body)]),
    word(url),
  ].join(' ');
}

const NO_CONTENT_TYPE = ['Content-Type', undefined] as const;

/** curl removes a header that ends in a colon, and sends an empty one that ends in a semicolon. */
function headerLine([name, value]: readonly [string, string | undefined]): string {
  if (value === undefined) return `${name}:`;
  return value === '' ? `${name};` : `${name}: ${value}`;
}

function powershellWord(text: string): string {
  if (/^[\w./:-][\w./:~-]*$/.test(text)) return text;
  if (!/\p{Cc}/u.test(text)) return `'${text.replaceAll("'", "''")}'`;
  const escaped = text.replaceAll(/[`"$]/g, '`$&');
  return `"${escaped.replaceAll(/\p{Cc}/gu, (one) => `\`u{${one.charCodeAt(0).toString(16)}}`)}"`;
}

/** Quotes a word for a POSIX shell. Escapes control characters, which a terminal could obey. */
export function shellWord(text: string): string {
  if (/^[\w./:-][\w./:~-]*$/.test(text)) return text;
  if (!/\p{Cc}/u.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  const escaped = text.replaceAll(/[\\']/g, '\\$&').replaceAll('\n', '\\n');
  return `$'${escaped.replaceAll(/\p{Cc}/gu, escapeCharacter)}'`;
}
