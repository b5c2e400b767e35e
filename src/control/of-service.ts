import type { Reply } from '../service/reply.ts';
import type { ControlReply } from './endpoint.ts';

/** An Error that the service would answer with, as a reply of the control API. */
export function ofService({ status, body }: Reply): ControlReply {
  const text = body.kind === 'json' ? body.text.toString() : '{}';
  return { status, body: { kind: 'pieces', pieces: [text] } };
}
