import { isUtf8 } from 'node:buffer';
import { parseJson } from '../contract/json.ts';

/** A request's body, as far as it was received. */
export type ReceivedBody =
  | { readonly kind: 'none' }
  | ReceivedBytes
  /** It went past the limit of `body-limit`, and the rest was not kept. */
  | { readonly kind: 'too-large'; readonly limit: number };

/** What a body says as JSON, or why it says nothing. */
type BodyJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/** A whole body. It is parsed once, for the operation and for all that look at its input beside it. */
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
  if (!isUtf8(bytes)) {
    return {
      ok: false,
      problem: 'body: expected JSON in UTF-8, found bytes that are not UTF-8',
    };
  }
  try {
    return { ok: true, value: parseJson(bytes.toString()) };
  } catch (error) {
    const why = error instanceof RangeError ? 'it is nested too deep' : String(error);
    return { ok: false, problem: `body: expected JSON: ${why.replace(/^SyntaxError: /, '')}` };
  }
}
