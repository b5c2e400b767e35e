import type { IncomingMessage, ServerResponse } from 'node:http';
import { findControlTarget, parseTarget } from '../../core/contract/target.ts';
import type { ControlRequest } from '../../core/control/endpoint.ts';
import { type ControlReply, controlHeaders, type EventSink } from '../../core/control/reply.ts';
import { receiveBody } from './service-handler.ts';
import { onDisconnect, writeReply } from './write.ts';

/** A Node request with the members that Express adds. */
export type ExpressRequest = IncomingMessage & Readonly<Record<'url' | 'baseUrl', string>>;

/** @returns undefined for a path of the service */
export function readControlRequest(request: ExpressRequest): ControlRequest | undefined {
  const { baseUrl, url, headers, method = 'GET', socket } = request;
  const control = findControlTarget(parseTarget(url));
  if (control === undefined) return undefined;
  const scheme = 'encrypted' in socket ? 'https' : 'http';
  return {
    ...control,
    mount: baseUrl + control.mount,
    method,
    headers,
    origin: `${scheme}://${headers.host ?? 'localhost'}`,
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

/** An event stream of the control API that writes to a Node response. */
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
