import { hostName, readCredentials } from '../../core/contract/base-url.ts';

export type RedisAddress = NonNullable<ReturnType<typeof parseRedisAddress>>;

export const REDIS_ADDRESS_FORM = 'redis://[USER:PASSWORD@]HOST[:PORT][/DB][#NAME] or rediss://…';

export function parseRedisAddress(text: string) {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const { protocol, hostname, pathname, search, hash } = url;
  const digits = /^\/?(\d{0,6})$/.exec(pathname)?.[1];
  if (!/^rediss?:$/.test(protocol) || hostname === '' || digits === undefined) return undefined;
  const name = /^(?:#([\w.-]{1,64}))?$/.exec(hash);
  if (search !== '' || name === null) return undefined;
  const port = Number(url.port || 6379);
  const database = Number(digits);
  return {
    tls: protocol === 'rediss:',
    host: hostName(url),
    port,
    database,
    /** Of the fleet. */
    name: name[1] ?? 'default',
    ...readCredentials(url),
    /** For messages, without credentials. */
    shown: `${protocol}//${hostname}:${port}/${database}`,
  };
}
