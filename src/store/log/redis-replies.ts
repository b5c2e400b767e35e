import type { Position } from './change-log.ts';

/** One message of a log's stream. */
export interface Message {
  /** The position after its entries. */
  readonly position: Position;
  /** Names the append that made it, among those of all servers. */
  readonly token: string;
  readonly entries: readonly string[];
}

/** What the script APPEND returns. */
export type AppendReply =
  | { readonly kind: 'gone' }
  | { readonly kind: 'busy' }
  | { readonly kind: 'kept'; readonly position: Position; readonly isFull: boolean }
  | { readonly kind: 'behind'; readonly position: Position; readonly messages: readonly Message[] }
  | {
      readonly kind: 'reset';
      readonly position: Position;
      /** The position of the snapshot. */
      readonly folded: Position;
      readonly snapshot: string;
      readonly messages: readonly Message[];
    };

/** Reads a reply of APPEND. */
export function readAppendReply(reply: unknown): AppendReply {
  const [kind, position, ...rest] = listOf(reply);
  switch (kind) {
    case 'gone':
    case 'busy':
      return { kind };
    case 'kept':
      return { kind, position: Number(position), isFull: rest[0] === 1 };
    case 'behind':
      return { kind, position: Number(position), messages: listOf(rest[0]).map(messageOf) };
    case 'reset': {
      const [folded, snapshot, messages] = rest;
      return {
        kind,
        position: Number(position),
        folded: Number(folded),
        snapshot: String(snapshot),
        messages: listOf(messages).map(messageOf),
      };
    }
    default:
      throw new TypeError(`Redis returned ${String(kind)}`);
  }
}

/** A message is its id, and names and values in turn. */
function messageOf(message: unknown): Message {
  const [id, fields] = listOf(message);
  const [token, ...entries] = listOf(fields)
    .filter((_, index) => index % 2 === 1)
    .map(String);
  return { position: Number.parseInt(String(id), 10), token: token ?? '', entries };
}

function listOf(reply: unknown): readonly unknown[] {
  if (!Array.isArray(reply)) throw new TypeError(`Redis returned ${typeof reply}, not a list`);
  return reply;
}
