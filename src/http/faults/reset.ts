import type { ServerResponse } from 'node:http';
import { carrierOf } from '../tls/secure.ts';

/** A TCP reset. Sends nothing, and ignores what the client still sends. */
export function reset({ req: { socket } }: ServerResponse): void {
  try {
    carrierOf(socket).resetAndDestroy();
  } catch {
    // An embedding app may listen on something other than TCP, which has no reset.
    socket.destroy();
  }
}
