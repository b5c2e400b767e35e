import type { Reply } from '../service/reply.ts';
import { FAULTS, type Fault } from './fault-table.ts';
import type { Decision } from './rules.ts';

/** The result of a request: a reply, or a fault on the wire; after `delay` milliseconds. */
export type Outcome = {
  readonly delay: number;
  /** What forced it; undefined if the service itself answered. */
  readonly decision?: Decision | undefined;
} & (
  | { readonly kind: 'reply'; readonly reply: Reply }
  /** `reply` is what the fault spoils or hides; undefined if no operation ran. */
  | { readonly kind: 'fault'; readonly fault: Fault; readonly reply: Reply | undefined }
);

/** Whether the client sees the reply's status. */
export function isShown(outcome: Outcome): boolean {
  return outcome.kind === 'reply' || FAULTS[outcome.fault.kind].effect !== 'replaces';
}

/** Whether the client gets the reply complete and unchanged. */
export function isDelivered(outcome: Outcome): boolean {
  return outcome.kind === 'reply' || FAULTS[outcome.fault.kind].effect === 'delivers';
}
