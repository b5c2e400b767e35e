import { hostName, readCredentials } from '../../core/contract/base-url.ts';

export type RedisAddress = NonNullable<ReturnType<typeof parseRedisAddress>>;

export const REDIS_ADDRESS_FORM = 'redis://[USER:PASSWORD@]HOST[:PORT][/DB] or rediss://…';

export function parseRedisAddress(text: string) {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const { protocol, hostname, pathname, search, hash } = url;
  const digits = /^\/?(\d{0,6})$/.exec(pathname)?.[1];
  if (!/^rediss?:$/.test(protocol) || hostname === '' || digits === undefined) return undefined;
  if (search !== '' || hash !== '') return undefined;
  const port = Number(url.port || 6379);
  const database = Number(digits);
  return {
    tls: protocol === 'rediss:',
    host: hostName(url),
    port,
    database,
    ...readCredentials(url),
    /** For messages, without credentials. */
    shown: `${protocol}//${hostname}:${port}/${database}`,
  };
}
