import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A proxy in front of a port of loopback, which can cut its connections. */
export class CutProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #deaf = false;

  private constructor(target: number) {
    this.#server = createServer((client) => {
      const upstream = connect(target, '127.0.0.1');
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.once('close', () => {
          this.#sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
      }
      client.pipe(upstream);
      upstream.on('data', (data) => {
        if (this.#deaf) this.cut();
        else client.write(data);
      });
    });
  }

  static async start(target: number): Promise<CutProxy> {
    const proxy = new CutProxy(target);
    await once(proxy.#server.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return address.port;
  }

  /** Ends all connections. New ones can be made. */
  cut(): void {
    this.#deaf = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Cuts as soon as the next reply comes, which is lost. */
  cutAtNextReply(): void {
    this.#deaf = true;
  }

  close(): void {
    this.cut();
    this.#server.close();
  }
}
