/** Where a Redis is, as `--shared` names it. */
export interface RedisAddress {
  readonly tls: boolean;
  readonly host: string;
  readonly port: number;
  readonly database: number;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** The address for messages, without credentials. */
  readonly shown: string;
}

/** The form of an address, in words. */
export const REDIS_ADDRESS_FORM = 'redis://[USER:PASSWORD@]HOST[:PORT][/DB] or rediss://…';

const DEFAULT_PORT = 6379;

/** Reads an address; undefined if it is none. */
export function readRedisAddress(text: string): RedisAddress | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text);
  const database = /^\/?(\d{0,6})$/.exec(pathname)?.[1];
  if (!/^rediss?:$/.test(protocol) || hostname === '' || database === undefined) return undefined;
  if (search !== '' || hash !== '' || !isEncoded(username + password)) return undefined;
  const authority = `${hostname}:${port === '' ? DEFAULT_PORT : port}`;
  return {
    tls: protocol === 'rediss:',
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? DEFAULT_PORT : Number(port),
    database: Number(database),
    username: decoded(username),
    password: decoded(password),
    shown: `${protocol}//${authority}/${Number(database)}`,
  };
}

/** Whether percent signs stand for bytes of UTF-8. */
function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function decoded(text: string): string | undefined {
  return text === '' ? undefined : decodeURIComponent(text);
}
