import { hostName, readCredentials } from '../../core/contract/base-url.ts';
import { DAY_MS } from '../../core/contract/date-time.ts';
import { IDLE_TIME, WAIT_TIME, writeDuration } from '../../core/service/settings-shapes.ts';
import { inMilliseconds, type OptionsOf, one, textThat } from '../../core/shape/option-kinds.ts';
import { number } from '../../core/shape/shapes.ts';
import { type BaseOptions, forServe } from '../../server/options.ts';

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
    name: name[1] ?? 'default',
    ...readCredentials(url),
    /** The address without credentials, for messages. */
    shown: `${protocol}//${hostname}:${port}/${database}`,
  };
}

const REDIS = one(
  'URL',
  textThat(REDIS_ADDRESS_FORM, (value) => parseRedisAddress(value) !== undefined, 'something else'),
);

const atLeast = (least: number) =>
  number(least, Number.POSITIVE_INFINITY, `milliseconds, at least ${least}`);

/** In milliseconds. */
export const FLEET_DEFAULTS = { fleetTtl: DAY_MS, drain: 2_000 };

export const FLEET_OPTIONS = {
  Store: {
    /** The URL of a Redis through which servers share sandboxes: `redis://HOST:PORT/DB#NAME`. */
    shared: forServe(
      REDIS,
      'Share sandboxes through this Redis, such as redis://127.0.0.1:6379/0#team.',
      { excludes: ['db', 'watch', 'scenarioFolder'] },
    ),
    /** Milliseconds after which Redis deletes what no server of the fleet has used. */
    fleetTtl: forServe(
      inMilliseconds('DURATION', IDLE_TIME, atLeast(1000)),
      'With --shared: forget what was not used for this long.',
      { default: writeDuration(FLEET_DEFAULTS.fleetTtl) },
    ),
    /** Milliseconds for which `health` answers 503 before a server closes. */
    drain: forServe(
      inMilliseconds('DURATION', WAIT_TIME, atLeast(0)),
      'With --shared: answer health with 503 for this long before closing.',
      { default: writeDuration(FLEET_DEFAULTS.drain) },
    ),
  },
};

export type FleetOptions = BaseOptions & OptionsOf<typeof FLEET_OPTIONS>;
