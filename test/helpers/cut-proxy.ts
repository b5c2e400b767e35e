import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from './host.ts';

/**
 * What a proxy does with the bytes that come: cut at the next reply, which is lost; cut within the next
 * request, whose second half is lost; or keep the connections open, and pass no replies or nothing on.
 */
export const MODES = [
  'cut at reply',
  'cut in request',
  'lose replies',
  'lose all',
  'pass',
] as const;

type Mode = (typeof MODES)[number];

/** A proxy in front of a port of loopback, which can cut its connections. */
export class CutProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #port = 0;
  /** What each socket waits for. */
  readonly #passing = new WeakMap<Socket, Promise<void>>();
  #mode: Mode = 'pass';
  #command = '';
  /** The port that new connections lead to. */
  target: number;
  /** Milliseconds that bytes take to either side. */
  delay = 0;
  /** How fast replies arrive. */
  bytesPerSecond = Number.POSITIVE_INFINITY;

  private constructor(target: number) {
    this.target = target;
    this.#server = createServer((client) => {
      const upstream = connect(this.target, '127.0.0.1');
      let isAsked = false;
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.once('close', () => {
          this.#sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
      }
      client.on('data', (data) => {
        if (this.#mode === 'lose all') return;
        isAsked = data.includes(this.#command);
        if (this.#mode === 'cut in request' && isAsked) {
          upstream.write(data.subarray(0, data.length / 2), () => this.cut());
        } else this.#pass(data, upstream);
      });
      let arrivesAt = 0;
      upstream.on('data', (data) => {
        if (this.#mode === 'cut at reply' && isAsked) this.cut();
        else if (!this.#mode.startsWith('lose')) {
          const now = performance.now();
          arrivesAt = Math.max(arrivesAt, now) + (data.length / this.bytesPerSecond) * 1000;
          this.#pass(data, client, arrivesAt - now);
        }
      });
    });
  }

  /** Passes bytes on in their order, when they are due. */
  #pass(data: Buffer, to: Socket, wait = 0): void {
    const before = this.#passing.get(to);
    if (before === undefined && this.delay + wait === 0) {
      to.write(data);
      return;
    }
    const due = performance.now() + this.delay + wait;
    const passed = (async () => {
      await before;
      const left = due - performance.now();
      if (left > 0) await sleep(left);
      if (!to.destroyed) to.write(data);
    })();
    this.#passing.set(to, passed);
  }

  static async start(target: number): Promise<CutProxy> {
    const proxy = new CutProxy(target);
    proxy.#port = await listen(proxy.#server);
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  /** Ends all connections. New ones pass everything on. */
  cut(): void {
    this.#mode = 'pass';
    for (const socket of this.#sockets) socket.destroy();
  }

  /**
   * Does this from now on, until the next cut.
   *
   * @param command cuts only this command, or at the reply to it
   */
  become(mode: Mode, command = ''): void {
    this.#mode = mode;
    this.#command = command;
  }

  close(): void {
    this.cut();
    this.#server.close();
  }
}
