import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { packageRoot } from '../../src/package.ts';
import { dockerfile } from './dockerfile.ts';
import { freePort } from './walk.ts';

// No Docker engine is needed: the entry point starts with nothing but the image's variables.

const { runtime } = dockerfile();
/** What the last stage of the Dockerfile sets. */
export const image = {
  env: Object.fromEntries(runtime('ENV').flatMap((line) => line.split(' ').map(pairOf))),
  entrypoint: wordsOf(runtime('ENTRYPOINT')[0]),
  health: wordsOf(runtime('HEALTHCHECK')[0]),
  port: runtime('EXPOSE')[0],
  volume: runtime('VOLUME')[0],
};

function pairOf(pair: string): [string, string] {
  const [name = '', value = ''] = pair.split('=');
  return [name, value];
}

/** The words of an instruction in exec form. */
function wordsOf(line = ''): readonly string[] {
  return JSON.parse(/\[.*\]$/.exec(line)?.[0] ?? '[]');
}

const running = new Set<ChildProcess>();

/** Ends what a test file has left running. */
export function killImages(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Starts a command of the image with nothing but the image's variables, and some more. */
export function start(
  words: readonly string[],
  more: Readonly<Record<string, string>>,
): ChildProcess {
  const variables = Object.entries({ PATH: process.env.PATH, ...image.env, ...more });
  const env = variables.map(([name, value]) => `${name}=${value}`);
  const child = spawn('env', ['-i', ...env, ...words], {
    cwd: packageRoot,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** The first line that a command prints; undefined if it ends without one. */
export async function firstLine(child: ChildProcess): Promise<string | undefined> {
  if (child.stdout === null) throw new Error('The command has no output.');
  const lines = createInterface({ input: child.stdout });
  const line = once(lines, 'line').then(([text]): string => text);
  return Promise.race([line, once(lines, 'close').then(() => undefined)]);
}

/** As `docker run` starts the image; but tests listen on loopback only. */
export async function startImage(more: Readonly<Record<string, string>> = {}) {
  const port = String(await freePort());
  const given = { PETSTORE_MOCK_HOST: '127.0.0.1', PETSTORE_MOCK_PORT: port, ...more };
  const child = start(image.entrypoint, given);
  const exited = once(child, 'exit');
  const ready = await firstLine(child);
  const check = async (words = image.health) => (await once(start(words, given), 'exit'))[0];
  const stop = () => {
    child.kill('SIGTERM');
    return exited;
  };
  return { ready, url: `http://127.0.0.1:${port}/v1`, check, stop };
}
