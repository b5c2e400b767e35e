import { once } from 'node:events';
import { connect } from 'node:net';
import { platform } from 'node:process';
import { expect, test } from 'vitest';
import { MAIN, readyUrl } from '../helpers/command.ts';
import { spawnProgram } from '../helpers/program.ts';
import { openRaw, rawRequest } from '../helpers/raw.ts';

test.runIf(platform === 'linux')(
  'more clients than file descriptors leave enough for the control API, and for its pages',
  async () => {
    const command = `ulimit -n 60; exec "${process.execPath}" "${MAIN}" --port 0 --log json`;
    const server = spawnProgram('sh', ['-c', command]);
    const port = Number(new URL(await readyUrl(server)).port);
    const first = await openRaw(port);
    const crowd = Array.from({ length: 100 }, () => connect(port, '127.0.0.1'));
    for (const socket of crowd) socket.on('error', () => {});
    const refused = Promise.race(crowd.map((socket) => once(socket.resume(), 'close')));
    await Promise.all(crowd.map((socket) => once(socket, 'connect')));
    await refused;
    for (const target of ['/__mock/state', '/__mock/', '/v1/pets/1']) {
      first.send(rawRequest('GET', target));
      expect((await first.reply()).status).toBe(200);
    }
    for (const socket of crowd) socket.destroy();
    server.child.kill('SIGTERM');
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(server.printed.output).toContain('connections beyond 30 are refused');
  },
);
