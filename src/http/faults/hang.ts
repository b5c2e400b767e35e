import type { ServerResponse } from 'node:http';
import type { PendingResponses } from '../pending-responses.ts';

/** The longest wait, in milliseconds. */
const LONGEST = 5 * 60 * 1_000;

/** Sends nothing until the client leaves. */
export function hang(response: ServerResponse, pending: PendingResponses): void {
  const end = (): void => void response.req.socket.destroy();
  const timer = setTimeout(end, LONGEST);
  response.once('close', () => clearTimeout(timer));
  pending.add(response, end);
}
