import { isUtf8 } from 'node:buffer';
import { parseJson } from '../contract/json.ts';

/** The received body of a request. */
export type ReceivedBody =
  | { readonly kind: 'none' }
  | ReceivedBytes
  /** The body exceeded `body-limit` and was dropped. */
  | { readonly kind: 'too-large'; readonly limit: number };

/** A body as a JSON value, or why it is not JSON. */
type BodyJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/** A complete body. Parsed once, for everything that reads it. */
export class ReceivedBytes {
  readonly kind = 'bytes';
  readonly bytes: Buffer;
  #json: BodyJson | undefined;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get json(): BodyJson {
    this.#json ??= read(this.bytes);
    return this.#json;
  }
}

function read(bytes: Buffer): BodyJson {
  const text = bytes.toString();
  // What is not UTF-8 becomes U+FFFD, which is found faster than every byte is checked.
  if (text.includes('\uFFFD') && !isUtf8(bytes)) {
    return {
      ok: false,
      problem: 'body: expected JSON in UTF-8, found bytes that are not UTF-8',
    };
  }
  try {
    return { ok: true, value: parseJson(text) };
  } catch (error) {
    const why = error instanceof RangeError ? 'it is nested too deeply' : String(error);
    return { ok: false, problem: `body: expected JSON: ${why.replace(/^SyntaxError: /, '')}` };
  }
}
