import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { type RunningCommand, startCommand } from './command.ts';
import { RedisServer } from './redis.ts';
import { type Answer, asker } from './wire.ts';

/** What became of a request. Without a reply that tells, it may have been done or not. */
export type Outcome = Answer | 'unknown' | 'not done';

/**
 * Three servers over a Redis that syncs each change to its disk. Their journals drop nothing.
 *
 * @param through makes the port through which the first one reaches Redis
 */
export async function startThree(
  through: (port: number) => Promise<number> = async (port) => port,
) {
  const redis = await RedisServer.start('--appendonly', 'yes', '--appendfsync', 'always');
  const first = redis.url.replace(String(redis.port), String(await through(redis.port)));
  const fleet = new FleetProcesses([first, redis.url, redis.url]);
  onTestFinished(async () => {
    await fleet.stop();
    await redis.end();
  });
  await fleet.start();
  return { redis, fleet };
}

/** The servers of a fleet, each a process. */
export class FleetProcesses {
  readonly #addresses: readonly string[];
  #servers: readonly RunningCommand[] = [];

  /** @param addresses that of the Redis, as each server sees it */
  constructor(addresses: readonly string[]) {
    this.#addresses = addresses;
  }

  async start(): Promise<void> {
    this.#servers = await Promise.all(this.#addresses.map((_, index) => this.#start(index)));
  }

  get count(): number {
    return this.#servers.length;
  }

  async ask(index: number, method: string, path: string, body?: object): Promise<Outcome> {
    const port = Number(new URL(this.#server(index).url).port);
    try {
      const answer = await asker(port, '')(method, path, body && { body });
      if (answer.status !== 503) return answer;
      expect(answer.json).toMatchObject({ code: 'not_saved' });
      return answer.text.includes('the change may have been made') ? 'unknown' : 'not done';
    } catch (error) {
      return Object(error).code === 'ECONNREFUSED' ? 'not done' : 'unknown';
    }
  }

  /** The reply of a server as soon as it has one that tells. */
  async answer(index: number, method: string, path: string, body?: object): Promise<Answer> {
    for (;;) {
      const outcome = await this.ask(index, method, path, body);
      if (typeof outcome !== 'string') return outcome;
      await sleep(50);
    }
  }

  /** Waits until the health of a server has this status. */
  async becomes(index: number, status: number): Promise<void> {
    const { url } = this.#server(index);
    while ((await fetch(new URL('/__mock/health', url))).status !== status) await sleep(20);
  }

  async allBecome(status: number): Promise<void> {
    await Promise.all(this.#addresses.map((_, index) => this.becomes(index, status)));
  }

  signal(index: number, signal: NodeJS.Signals): void {
    this.#server(index).process.kill(signal);
  }

  /** Ends a server with kill -9 and starts another in its place. */
  async replace(index: number): Promise<void> {
    const { process, exited } = this.#server(index);
    process.kill('SIGKILL');
    await exited;
    const server = await this.#start(index);
    this.#servers = this.#servers.with(index, server);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop()));
  }

  #start(index: number): Promise<RunningCommand> {
    const address = this.#addresses[index] ?? '';
    const flags = ['--port', '0', '--log', 'off', '--journal', '100000', '--shared', address];
    return startCommand(flags);
  }

  #server(index: number): RunningCommand {
    const server = this.#servers[index];
    if (server === undefined) throw new Error(`There is no server ${index}.`);
    return server;
  }
}
