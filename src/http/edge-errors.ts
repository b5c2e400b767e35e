import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { ErrorCode, StatusOf } from '../contract/error-codes.ts';
import { errorReply, Grounds, type Reply } from '../service/reply.ts';
import type { World } from '../service/world.ts';
import { endAfter } from './connections.ts';
import { type Framing, send, sendFailure, type Wire, written } from './encode.ts';

/** An Error for a request that is refused before its target is read. */
export type EdgeError = {
  readonly [C in ErrorCode]: {
    readonly code: C;
    readonly status: StatusOf<C>;
    readonly message: string;
  };
}[ErrorCode];

const PLAIN_FRAMING: Framing = { head: false, crossOrigin: false };

/** Writes the Errors of requests that do not reach a sandbox. */
export class EdgeErrors {
  readonly #sandbox: { readonly world: World };
  readonly #wire: Wire;

  /** @param sandbox whose assumptions shape the Errors */
  constructor(sandbox: { readonly world: World }, wire: Wire) {
    this.#sandbox = sandbox;
    this.#wire = wire;
  }

  get #world(): World {
    return this.#sandbox.world;
  }

  /** The status of a malformed request. */
  readonly invalid = (): 400 | 422 => (this.#world.choices['invalid-input'] === '422' ? 422 : 400);

  /** Answers with an Error and closes the connection. */
  refuse(response: ServerResponse, error: EdgeError): void {
    endAfter(response);
    this.#send(response, this.#replyOf(error));
  }

  /** Answers a request on which the mock itself failed. */
  fail(response: ServerResponse, error: unknown): void {
    sendFailure(response, error, PLAIN_FRAMING, this.#world, this.#wire);
  }

  /** A whole reply as text, for a connection without a response object. */
  text(error: EdgeError, more: readonly string[] = []): string {
    const { clock } = this.#world;
    const reply = this.#replyOf(error, more);
    const { status, headers, body } = written(reply, PLAIN_FRAMING, this.#world, this.#wire);
    const length = String(Buffer.byteLength(body));
    const all = [...headers, 'Content-Length', length, 'Connection', 'close'];
    // Node adds it to the replies that it writes itself.
    if (clock.real) all.push('Date', new Date(clock.now()).toUTCString());
    const lines = all.flatMap((name, index) =>
      index % 2 === 0 ? `${name}: ${all[index + 1]}` : [],
    );
    return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n');
  }

  #replyOf({ code, status, message }: EdgeError, headers: readonly string[] = []): Reply {
    return errorReply(new Grounds(this.#world.choices), code, status, message, { headers });
  }

  #send(response: ServerResponse, reply: Reply): void {
    const outcome = { kind: 'reply', reply, delay: 0 } as const;
    send(response, outcome, PLAIN_FRAMING, this.#world, this.#wire);
  }
}
