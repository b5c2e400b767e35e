import type { ServerResponse } from 'node:http';
import { LONGEST_DELAY } from '../../scenario/time-shapes.ts';
import type { PendingResponses } from '../pending-responses.ts';

/** Sends nothing until the client leaves, or for as long as a delay may be. */
export function hang(response: ServerResponse, pending: PendingResponses): void {
  const end = (): void => void response.req.socket.destroy();
  const timer = setTimeout(end, LONGEST_DELAY);
  response.once('close', () => clearTimeout(timer));
  pending.add(response, end);
}
