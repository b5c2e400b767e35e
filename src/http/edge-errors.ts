import { type ServerResponse, STATUS_CODES } from 'node:http';
import { errorReply, Grounds } from '../service/reply.ts';
import type { World } from '../service/world.ts';
import { endAfter } from './connections.ts';
import { type Framing, send, type Wire, written } from './encode.ts';
import type { EdgeError } from './request-check.ts';

const PLAIN_FRAMING: Framing = { head: false, crossOrigin: false };

/** Writes the Errors of requests that do not get as far as a sandbox. */
export class EdgeErrors {
  readonly #world: World;
  readonly #wire: Wire;

  /** @param world whose assumptions shape the Errors */
  constructor(world: World, wire: Wire) {
    this.#world = world;
    this.#wire = wire;
  }

  /** The status of a malformed request. */
  get invalid(): 400 | 422 {
    return this.#world.choices['invalid-input'] === '422' ? 422 : 400;
  }

  /** Answers with an Error and closes the connection. */
  refuse(response: ServerResponse, error: EdgeError): void {
    endAfter(response);
    this.#send(response, error);
  }

  /** Answers a request on which the mock itself failed. */
  fail(response: ServerResponse, error: unknown): void {
    process.emitWarning(error instanceof Error ? error : new Error(String(error)));
    if (response.headersSent) response.destroy();
    else {
      const message = 'the mock itself failed';
      this.#send(response, { code: 'internal_error', status: 500, message });
    }
  }

  /** A whole reply as text, for a connection without a response object. */
  text({ code, status, message }: EdgeError, more: readonly string[] = []): string {
    const { choices, clock } = this.#world;
    const reply = errorReply(new Grounds(choices), code, status, message, { headers: more });
    const { headers, body } = written(reply, PLAIN_FRAMING, this.#world, this.#wire);
    const length = String(Buffer.byteLength(body));
    const all = [...headers, 'Content-Length', length, 'Connection', 'close'];
    // Node adds it to the replies that it writes itself.
    if (clock.real) all.push('Date', new Date(clock.now()).toUTCString());
    const lines = all.flatMap((name, index) =>
      index % 2 === 0 ? `${name}: ${all[index + 1]}` : [],
    );
    return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n');
  }

  #send(response: ServerResponse, { code, status, message }: EdgeError): void {
    const reply = errorReply(new Grounds(this.#world.choices), code, status, message);
    const outcome = { kind: 'reply', reply, delay: 0 } as const;
    send(response, outcome, PLAIN_FRAMING, this.#world, this.#wire);
  }
}
