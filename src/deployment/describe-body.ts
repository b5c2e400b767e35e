import { isUtf8 } from 'node:buffer';
import { describe } from '../words.ts';
import { type DeploymentReply, headerOf } from './deployment-client.ts';

/** What a body is that is not what was expected, for messages. */
export function describeBody(reply: Pick<DeploymentReply, 'headers' | 'body'>): string {
  const { body } = reply;
  if (body.length === 0) return 'no body';
  const encoding = headerOf(reply, 'content-encoding')?.toLowerCase() ?? '';
  // The client has decoded the encodings that it knows.
  if (!isUtf8(body)) {
    return encoding === '' ? `${body.length} bytes that are not UTF-8` : `a body in ${encoding}`;
  }
  const text = body.toString();
  return text.startsWith('\uFEFF') ? 'a body that starts with a byte order mark' : describe(text);
}
