/** Headers as they are written: names and values alternate. */
export type RawHeaders = readonly string[];

export interface Message {
  readonly headers: RawHeaders;
  /** Undefined if empty or dropped. */
  readonly body: string | Uint8Array | undefined;
  /** The text of a body that has a content coding; undefined if it cannot be decoded. */
  readonly decoded?: string | undefined;
  /** How many bytes the body has. */
  readonly size: number;
}

/** Whether a reply with this status may have content (RFC 9110, section 6.4.1). */
export function mayHaveContent(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304;
}

export function findHeader(headers: RawHeaders, name: string): string | undefined {
  // Each call looks for two: most names differ in length.
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

/** By name in lower case, as Node has them. */
export function mergeHeaders(headers: RawHeaders): Readonly<Record<string, string>> {
  const merged = new Map<string, string>();
  for (const [name, value] of pairHeaders(headers)) {
    const earlier = merged.get(name.toLowerCase());
    merged.set(name.toLowerCase(), earlier === undefined ? value : `${earlier}, ${value}`);
  }
  return Object.fromEntries(merged);
}

/*
 * Header values beyond ASCII are UTF-8, both ways; one that arrives as something else is Latin-1. Node
 * has a character for each byte, as `RawHeaders` do.
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
 * In seconds, by a number or a date (RFC 9110, section 10.2.3), which counts from the reply's own.
 *
 * @param now when the reply was made, unless it says so, in milliseconds since 1970
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
