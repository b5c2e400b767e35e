import type { Call } from '../service/input.ts';
import type { Reply } from '../service/reply.ts';
import type { World } from '../service/world.ts';
import type { Seen } from './exchange.ts';

/** A call and what its client was sent, as coverage and findings see them. */
export interface Witnessed {
  /** The number of its exchange in the journal. */
  readonly exchange: number;
  readonly seen: Seen;
  readonly call: Call;
  /** Undefined where the client was sent none. */
  readonly reply: Reply | undefined;
  /** How long the reply is held back, in milliseconds. */
  readonly delay: number;
  readonly world: World;
}
