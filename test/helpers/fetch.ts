import { onTestFinished } from 'vitest';
import { tryParseJson } from '../../src/core/json.ts';
import type { Mock } from '../../src/fetch.ts';
import { type Client, controlBy, encodeParts } from './wire.ts';

/** A client of a mock in this process, for the running test. */
export function openFetch(mock: Mock, port = 4010): Client {
  onTestFinished(mock.stop);
  const send: Client['send'] = async (method, path, parts = {}) => {
    const { headers, content } = encodeParts(parts);
    const { 'Content-Length': _, ...others } = headers;
    const init = { method, headers: others, body: content ?? null };
    const reply = await mock.fetch(`http://127.0.0.1:${port}${path}`, init);
    const text = path.includes('/stream') ? '' : await reply.text();
    const { status } = reply;
    return { status, headers: Object.fromEntries(reply.headers), text, json: tryParseJson(text) };
  };
  return { send, control: controlBy(send) };
}
