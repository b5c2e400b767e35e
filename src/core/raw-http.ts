/** Headers in the order and case of the wire: names and values alternate. */
export type RawHeaders = readonly string[];

export interface Message {
  readonly headers: RawHeaders;
  /** Undefined if the body is empty, or was too long to keep. */
  readonly body: string | Uint8Array | undefined;
  /** The body without its content coding; undefined if it has none or cannot be decoded. */
  readonly decoded?: string | undefined;
  /** How many bytes the body has. */
  readonly size: number;
}

/** Whether a reply with this status may have content (RFC 9110, section 6.4.1). */
export function mayHaveContent(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304;
}

export function findHeader(headers: RawHeaders, name: string): string | undefined {
  // Comparing lengths first is faster: every call looks up two names, and most lengths differ.
  for (let at = 0; at < headers.length; at += 2) {
    const known = headers[at];
    if (known?.length === name.length && known.toLowerCase() === name) return headers[at + 1];
  }
  return undefined;
}

export function findHeaders(headers: RawHeaders, name: string): string[] {
  return headers.filter((_, at) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === name);
}

export function pairHeaders(headers: RawHeaders): [name: string, value: string][] {
  return headers.flatMap((name, at): [string, string][] =>
    at % 2 === 0 ? [[name, headers[at + 1] ?? '']] : [],
  );
}

/** Headers by their lower-case names, as in Node's `request.headers`. */
export function mergeHeaders(headers: RawHeaders): Readonly<Record<string, string>> {
  const merged = new Map<string, string>();
  for (const [name, value] of pairHeaders(headers)) {
    const earlier = merged.get(name.toLowerCase());
    merged.set(name.toLowerCase(), earlier === undefined ? value : `${earlier}, ${value}`);
  }
  return Object.fromEntries(merged);
}

/*
 * Node reads and writes header values as Latin-1, a character for each byte, and so do
 * `RawHeaders`. The mock sends UTF-8, and reads UTF-8 where a value is valid UTF-8.
 */

export function readHeaderText(raw: string): string {
  if (!BEYOND_ASCII.test(raw)) return raw;
  try {
    return UTF_8.decode(Uint8Array.from(raw, (byte) => byte.charCodeAt(0)));
  } catch {
    return raw;
  }
}

export function writeHeaderText(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text;
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}

const BEYOND_ASCII = /[^ -~\t]/;
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

export function withoutHeaders(headers: RawHeaders, names: ReadonlySet<string>): string[] {
  return headers.filter((_, at) => !names.has(headers[at - (at % 2)]?.toLowerCase() ?? ''));
}

/**
 * The seconds in `Retry-After`, from a number or from a date (RFC 9110, section 10.2.3).
 *
 * @param now the time of the reply if it has no `Date` header, in milliseconds since 1970
 */
export function readRetryAfter(headers: RawHeaders, now: number): number | undefined {
  const value = findHeader(headers, 'retry-after') ?? '';
  if (/^\d+$/.test(value)) return Number(value);
  const from = Date.parse(findHeader(headers, 'date') ?? '') || now;
  const until = Date.parse(value);
  return Number.isNaN(until) ? undefined : Math.max(0, (until - from) / 1000);
}

/** Whether a body has a content coding (RFC 9110, section 8.4). */
export function isCoded(headers: RawHeaders): boolean {
  return !/^(?:identity)?$/i.test(findHeader(headers, 'content-encoding')?.trim() ?? '');
}
