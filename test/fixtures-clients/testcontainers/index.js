// Replaces the package of this name without a Docker engine: it starts the command of the image,
// with the variables that the example sets.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export const Wait = {
  /**
   * @param {string} path
   * @param {number} port
   */
  forHttp: (path, port) => ({ path, port }),
};

export class GenericContainer {
  #ports = /** @type {number[]} */ ([]);
  #environment = /** @type {Record<string, string>} */ ({});
  #ready = { path: '', port: 0 };

  /** @param {number[]} ports */
  withExposedPorts(...ports) {
    this.#ports = ports;
    return this;
  }

  /** @param {Record<string, string>} environment */
  withEnvironment(environment) {
    this.#environment = environment;
    return this;
  }

  /** @param {{ path: string, port: number }} ready */
  withWaitStrategy(ready) {
    this.#ready = ready;
    return this;
  }

  async start() {
    const { COMMAND = '', PATH } = process.env;
    const child = spawn(process.execPath, [COMMAND], {
      env: { PATH, ...this.#environment, PETSTORE_MOCK_PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    const { port, origin } = new URL(line.split(' ').at(-1));
    const { ok } = await fetch(origin + this.#ready.path);
    if (!ok) throw new Error(`${this.#ready.path} is not healthy.`);
    return {
      getHost: () => '127.0.0.1',
      /** @param {number} exposed */
      getMappedPort: (exposed) => {
        if (exposed !== 4010 || !this.#ports.includes(exposed) || this.#ready.port !== exposed) {
          throw new Error(`The image does not expose the port ${exposed}.`);
        }
        return Number(port);
      },
      stop: async () => {
        child.kill('SIGTERM');
        await once(child, 'exit');
      },
    };
  }
}
