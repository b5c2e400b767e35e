import { credentialsOf, hostOf } from '../../contract/base-url.ts';

/** Where a Redis is, as `--shared` names it. */
export interface RedisAddress {
  readonly tls: boolean;
  readonly host: string;
  readonly port: number;
  readonly database: number;
  /** Empty if there is none. */
  readonly username: string;
  readonly password: string;
  /** The address for messages, without credentials. */
  readonly shown: string;
}

/** The form of an address, in words. */
export const REDIS_ADDRESS_FORM = 'redis://[USER:PASSWORD@]HOST[:PORT][/DB] or rediss://…';

const DEFAULT_PORT = 6379;

/** Reads an address; undefined if it is none. */
export function readRedisAddress(text: string): RedisAddress | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const { protocol, hostname, port, pathname, search, hash } = url;
  const database = /^\/?(\d{0,6})$/.exec(pathname)?.[1];
  if (!/^rediss?:$/.test(protocol) || hostname === '' || database === undefined) return undefined;
  if (search !== '' || hash !== '') return undefined;
  const authority = `${hostname}:${port === '' ? DEFAULT_PORT : port}`;
  return {
    tls: protocol === 'rediss:',
    host: hostOf(url),
    port: port === '' ? DEFAULT_PORT : Number(port),
    database: Number(database),
    ...credentialsOf(url),
    shown: `${protocol}//${authority}/${Number(database)}`,
  };
}
