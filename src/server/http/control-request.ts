import type { IncomingMessage, ServerResponse } from 'node:http';
import { CONTROL_PATH, parseAddress, parseTarget } from '../../core/contract/target.ts';
import type { ControlRequest } from '../../core/control/endpoint.ts';
import { type ControlReply, controlHeaders, type EventSink } from '../../core/control/reply.ts';
import { receiveBody } from './service-handler.ts';
import { onDisconnect, writeReply } from './write.ts';

/** What Express adds to a request of Node. */
export type ExpressRequest = IncomingMessage &
  Readonly<Record<'url' | 'baseUrl' | 'originalUrl', string>>;

/** @param request below the mount of a control API, which is its `baseUrl` */
export function readControlRequest(request: ExpressRequest): ControlRequest {
  const { baseUrl: mount, originalUrl, headers, method = 'GET', socket } = request;
  const scheme = 'encrypted' in socket ? 'https' : 'http';
  const { sandbox: sandboxName } = parseAddress(mount);
  const { path, search } = parseTarget(request.url);
  // Express adds a slash to the mount itself.
  const isMount = parseTarget(originalUrl).path.endsWith(CONTROL_PATH);
  return {
    method,
    headers,
    origin: `${scheme}://${headers.host ?? 'localhost'}`,
    mount,
    sandboxName,
    path: isMount ? '' : path,
    search,
    readBody: (max) => new Promise((received) => receiveBody(request, max, received)),
    onDisconnect: (act) => onDisconnect(socket, act),
  };
}

export function sendControlReply(response: ServerResponse, reply: ControlReply): void {
  const { status, content } = reply;
  const headers = controlHeaders(reply);
  if (typeof content !== 'function') {
    writeReply(response, status, headers, content);
    return;
  }
  response.writeHead(status, headers).flushHeaders();
  if (response.req.method === 'HEAD') response.end();
  else content(createEventSink(response));
}

/** A stream of the control API, written to a response. */
export function createEventSink(response: ServerResponse): EventSink {
  return {
    get isClosed() {
      return response.destroyed || response.writableEnded;
    },
    write: (text) => response.write(text),
    drained: () => waitForDrain(response),
    end: () => void response.end(),
    onClose: (act) => void response.once('close', act),
  };
}

function waitForDrain(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      response.off('drain', end).off('close', end);
      resolve();
    };
    response.once('drain', end).once('close', end);
    if (response.destroyed) end();
  });
}
