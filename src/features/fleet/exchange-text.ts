import type { Message } from '../../core/raw-http.ts';
import type { Exchange } from '../../core/sandbox/exchange.ts';
import { spoiltError } from './store-parts.ts';

/** Bytes that a body may have to be kept: servers read it, and Redis has it for each exchange. */
const MAX_BODY_BYTES = 16 * 1024;

/** A body, its text if it has a content coding, and whether it is bytes, as Latin-1. */
type Content = readonly [body: string, decoded: string | undefined, isBytes: boolean];

const NO_CONTENT = { body: undefined, decoded: undefined };

function writeContent(message: Message | undefined): Content | undefined {
  const { body, decoded, size = 0 } = message ?? {};
  if (body === undefined || size > MAX_BODY_BYTES) return undefined;
  if (typeof body === 'string') return [body, decoded, false];
  return [Buffer.from(body).toString('latin1'), decoded, true];
}

function readContent(content: Content | undefined) {
  if (!content) return NO_CONTENT;
  const [body, decoded, isBytes] = content;
  return { body: isBytes ? Buffer.from(body, 'latin1') : body, decoded: decoded ?? undefined };
}

/** What most filters look at in a line of its own, and then the bodies. */
export function writeExchange(exchange: Exchange): string {
  const { request, reply } = exchange;
  const head = {
    ...exchange,
    request: { ...request, ...NO_CONTENT },
    reply: reply && { ...reply, ...NO_CONTENT },
  };
  const contents = [writeContent(request), writeContent(reply)];
  return `${JSON.stringify(head)}\n${JSON.stringify(contents)}`;
}

/** @param text or only its first line */
export function readExchange(text: string, number: number): Exchange {
  try {
    const [head = '', contents = '[]'] = text.split('\n');
    const { request, reply, ...rest }: Exchange = JSON.parse(head);
    const [ofRequest, ofReply]: readonly Content[] = JSON.parse(contents);
    return {
      ...rest,
      number,
      request: { ...request, ...readContent(ofRequest) },
      reply: reply && { ...reply, ...readContent(ofReply) },
    };
  } catch (error) {
    throw spoiltError(`exchange ${number}`, error);
  }
}
