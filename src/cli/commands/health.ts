import { DEFAULTS } from '../../defaults.ts';
import { parseAddress } from '../../http/target.ts';
import { errorCode, NO_TLS } from '../../node-errors.ts';
import { describe } from '../../words.ts';
import { type Command, Failure, refusal } from '../command.ts';
import type { Flags } from '../flags.ts';

export const health: Command = async ({ flags }) => {
  const url = new URL(`${parseAddress(findServer(flags)).root}/__mock/health`);
  const { timeout = DEFAULTS.healthTimeout, tls = false } = flags;
  const status = await requestStatus(url, timeout, !tls);
  if (status !== 200) {
    const hint = status === 400 && !tls ? '; if it speaks HTTPS, add --tls' : '';
    throw new Failure(`${url} answered ${status}${hint}`);
  }
  return { text: `${url.origin} is up\n`, exitCode: 0 };
};

/** Callable addresses for those that mean every interface. */
const CALLABLE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

function findServer(flags: Flags): string {
  const { url, host = DEFAULTS.host, port = DEFAULTS.port, tls = false } = flags;
  if (url !== undefined) return url;
  if (port === 0) {
    throw refusal('--port', 'the port of the server', '0, which means any free port');
  }
  const callable = CALLABLE[host] ?? host;
  const name = callable.includes(':') ? `[${callable}]` : callable;
  const origin = `${tls ? 'https' : 'http'}://${name}:${port}`;
  if (URL.canParse(origin)) return origin;
  throw refusal('--host', 'a host name', describe(host));
}

/** @param verified whether to verify the certificate; the request carries no secret */
async function requestStatus(url: URL, milliseconds: number, verified: boolean) {
  const { get } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'));
  const signal = AbortSignal.timeout(milliseconds);
  return new Promise<number | undefined>((resolve, reject) => {
    const request = get(url, { agent: false, signal, rejectUnauthorized: verified }, (reply) => {
      reply.resume();
      resolve(reply.statusCode);
    });
    request.on('error', (error) => {
      const code = errorCode(error) ?? error.message;
      const hint = NO_TLS.test(code) ? '; does it speak plain HTTP?' : '';
      const why = signal.aborted ? `within ${milliseconds} ms` : `(${code})${hint}`;
      reject(new Failure(`no answer from ${url} ${why}`, { cause: error }));
    });
  });
}
