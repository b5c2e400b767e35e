import type { Socket } from 'node:net';

const OPENED = Symbol('opened');

interface StampedSocket extends Socket {
  [OPENED]?: number;
}

/** Notes that a connection was just opened. */
export function noteOpened(socket: StampedSocket): void {
  socket[OPENED] = performance.now();
}

/** When a connection was opened, by `performance.now()`; undefined where another server took it. */
export function openedAt(socket: StampedSocket): number | undefined {
  return socket[OPENED];
}
