import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe } from 'vitest';
import { freePort } from './host.ts';
import { findProgram } from './program.ts';

const REDIS = findProgram('redis-server', 'valkey-server');

/** Tests with the Redis of this machine; skipped if it has none. */
export function describeWithRedis(what: string, tests: () => void): void {
  const name = REDIS === undefined ? `${what} (skipped: no redis-server found)` : what;
  describe.skipIf(REDIS === undefined)(name, tests);
}

/** A Redis on loopback, with a port and a folder of its own. */
export class RedisServer {
  readonly port: number;
  readonly #folder = mkdtempSync(join(tmpdir(), 'redis-'));
  readonly #settings: readonly string[];
  #process: ChildProcess | undefined;

  private constructor(port: number, settings: readonly string[]) {
    this.port = port;
    this.#settings = settings;
  }

  /** @param settings flags of redis-server; by default it keeps nothing on disk */
  static async start(...settings: readonly string[]): Promise<RedisServer> {
    for (;;) {
      const server = new RedisServer(await freePort(), settings);
      if (await server.resume()) return server;
      server.#remove();
    }
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}/0`;
  }

  /** Starts it, after `kill` with what is on its disk. False if another program has taken its port. */
  async resume(): Promise<boolean> {
    const flags = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.#folder];
    const keepNothing = ['--save', '', '--appendonly', 'no'];
    const child = spawn(REDIS ?? '', [...flags, ...keepNothing, ...this.#settings], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.#process = child;
    for await (const line of createInterface(child.stdout)) {
      if (line.includes('Ready to accept connections')) {
        child.stdout.resume();
        return true;
      }
    }
    return false;
  }

  /** Runs a command on a connection of its own. */
  async command(...args: readonly string[]): Promise<string> {
    const { createClient } = await import('@redis/client');
    const client = createClient({ socket: { port: this.port, host: '127.0.0.1' } });
    await client.connect();
    try {
      return String(await client.sendCommand(args));
    } finally {
      client.destroy();
    }
  }

  /** Ends it with kill -9. */
  async kill(): Promise<void> {
    await this.#stop('SIGKILL');
  }

  /** Stops it without closing its connections. */
  freeze(): void {
    this.#process?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#process?.kill('SIGCONT');
  }

  async end(): Promise<void> {
    await this.#stop('SIGKILL');
    this.#remove();
  }

  async #stop(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  #remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
