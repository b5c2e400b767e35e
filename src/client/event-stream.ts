/** One server-sent event. */
export interface ServerSentEvent {
  readonly type: string;
  /** Empty if it has none. */
  readonly id: string;
  readonly data: string;
}

/**
 * Reads server-sent events. A browser's EventSource cannot send the control token, and hides why it
 * failed.
 *
 * @param body of a reply with the media type `text/event-stream`
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerSentEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = parseEvent(block);
        if (event !== undefined) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** The event in a block of lines; undefined for a comment. */
function parseEvent(block: string): ServerSentEvent | undefined {
  let type = 'message';
  let id = '';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('event: ')) type = line.slice('event: '.length);
    if (line.startsWith('id: ')) id = line.slice('id: '.length);
    if (line.startsWith('data: ')) data.push(line.slice('data: '.length));
  }
  return data.length === 0 ? undefined : { type, id, data: data.join('\n') };
}
