import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { connectPetstoreMock } from '../../../src/index.ts';
import { startCommand } from '../../helpers/command.ts';
import { rawRequest } from '../../helpers/raw.ts';

const HELD = 5_000;

/** The processor time that a process has taken, in milliseconds. */
function cpuOf(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Collects the garbage of a process at a signal: V8 does so after more than a minute without work. */
const COLLECTOR = `
  import { setFlagsFromString } from 'node:v8';
  import { runInNewContext } from 'node:vm';
  setFlagsFromString('--expose-gc');
  process.on('SIGUSR2', runInNewContext('gc'));`;

/** The memory of a process, in MB. */
function memoryOf(pid: number | undefined): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

test.skipIf(!existsSync('/proc/self/status'))(
  '5,000 held replies take less than 60 MB, connections included, and all go within a second, each once',
  async () => {
    const { url, process } = await startCommand(['--port', '0', '--log', 'off'], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(COLLECTOR)}`,
    });
    const mock = await connectPetstoreMock({ url });
    const headers = { Authorization: 'Bearer demo-key' };
    for (let call = 0; call < 2_000; call += 1)
      await (await fetch(`${url}/pets`, { headers })).text();
    const latch = await mock.hold('listPets');
    const before = memoryOf(process.pid);
    const replies = new Array<number>(HELD).fill(0);
    const sockets: Socket[] = [];
    for (let index = 0; index < HELD; index += 1) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.setEncoding('latin1').on('data', (text: string) => {
        replies[index] = (replies[index] ?? 0) + text.split('HTTP/1.1 200').length - 1;
      });
      await once(socket, 'connect');
      socket.write(rawRequest('GET', '/v1/pets'));
      sockets.push(socket);
    }
    const control = async (path: string, body: object): Promise<string> => {
      const init = { method: 'POST', headers: { 'Content-Type': 'application/json' } };
      const sent = { ...init, body: JSON.stringify(body) };
      return (await fetch(`${mock.controlUrl}/${path}`, sent)).text();
    };
    const wait = { hold: latch.name, atLeast: HELD, within: 'PT30S' };
    expect(JSON.parse(await control('requests/count', wait))).toMatchObject({ count: HELD });
    const taken = () => {
      process.kill('SIGUSR2');
      return memoryOf(process.pid) - before;
    };
    await expect.poll(taken, { timeout: 120_000, interval: 500 }).toBeLessThan(60);
    const cpuBefore = cpuOf(process.pid);
    const released = await control('holds/release', { name: latch.name, open: true });
    // Of processor time: the machine may do much else.
    expect(cpuOf(process.pid) - cpuBefore).toBeLessThan(1_000);
    expect(JSON.parse(released)).toMatchObject({ held: 0 });
    await expect.poll(() => replies.every((count) => count > 0)).toBe(true);
    for (const socket of sockets) socket.end();
    await Promise.all(sockets.map((socket) => socket.closed || once(socket, 'close')));
    expect(new Set(replies)).toEqual(new Set([1]));
  },
);
