import type { Reply } from '../service/reply.ts';

/**
 * A way to spoil an exchange on the wire. The first four stand in the place of a reply; the others
 * spoil the one there is.
 */
export type Fault =
  /** A TCP reset, with nothing sent. */
  | { readonly kind: 'reset' }
  /** The connection is closed, with nothing sent. */
  | { readonly kind: 'close' }
  /** Nothing is sent until the client leaves, for 5 minutes at most. */
  | { readonly kind: 'hang' }
  /** A proxy's error page, 502, in the place of JSON. */
  | { readonly kind: 'html' }
  /** Half the body that `Content-Length` promises, then the connection is closed. */
  | { readonly kind: 'truncate' }
  /** A whole body that is not JSON. */
  | { readonly kind: 'malformed-json' }
  /** A chunked body of which one chunk's size is no number. */
  | { readonly kind: 'bad-chunk' }
  /** The body in `chunks` pieces, spread evenly over `over` milliseconds. */
  | { readonly kind: 'slow-body'; readonly chunks: number; readonly over: number };

/** What comes of a request: a reply, or a fault on the wire; after `delay` milliseconds. */
export type Outcome =
  | { readonly kind: 'reply'; readonly reply: Reply; readonly delay: number }
  /** `reply` is what the fault spoils or hides: undefined where no operation was run. */
  | {
      readonly kind: 'fault';
      readonly fault: Fault;
      readonly reply: Reply | undefined;
      readonly delay: number;
    };
