import { codeOf } from '../../error-code.ts';
import { describe } from '../../words.ts';
import { Failure } from '../failures.ts';
import { DEFAULT_TIMEOUT } from '../flags/flag-table.ts';
import { integerOf, type Layers, originOf, refusal, textOf } from '../input/given.ts';
import { addressOf } from '../input/settings.ts';
import type { Command } from './command.ts';

/** Checks whether a server is up, for the health check of a container. */
export const health: Command = async ({ layers, terminal }) => {
  const url = new URL('/__mock/health', serverOf(layers));
  const status = await statusOf(url, integerOf(layers, 'timeout') ?? DEFAULT_TIMEOUT);
  if (status !== 200) throw new Failure(`${url} answered ${status}`);
  terminal.output.write(`${url.origin} is up\n`);
  return 0;
};

/** For addresses that mean every interface, one that can be called. */
const CALLABLE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

function serverOf(layers: Layers): URL {
  const text = textOf(layers, 'url');
  if (text !== undefined) {
    if (URL.canParse(text) && /^https?:/i.test(text)) return new URL(text);
    throw refusal('--url', 'an http URL such as http://127.0.0.1:4010', describe(text));
  }
  const { host, port } = addressOf(layers);
  if (port === 0) {
    const origin = originOf(layers, 'port');
    throw refusal(origin, 'the port that the server was given', '0, which stands for any');
  }
  const callable = CALLABLE[host] ?? host;
  const name = callable.includes(':') ? `[${callable}]` : callable;
  if (URL.canParse(`http://${name}:${port}`)) return new URL(`http://${name}:${port}`);
  throw refusal(originOf(layers, 'host'), 'a host name', describe(host));
}

async function statusOf(url: URL, milliseconds: number): Promise<number | undefined> {
  const { get } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'));
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(milliseconds);
    const request = get(url, { agent: false, signal }, (reply) => {
      reply.resume();
      resolve(reply.statusCode);
    });
    request.on('error', (error) => {
      const why = signal.aborted
        ? `within ${milliseconds} ms`
        : `(${codeOf(error) ?? error.message})`;
      reject(new Failure(`no answer from ${url} ${why}`, { cause: error }));
    });
  });
}
