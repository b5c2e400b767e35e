import { one, textThat } from '../../server/option-kinds.ts';
import { forServe, type OptionsOf } from '../../server/options.ts';
import { parseRedisAddress, REDIS_ADDRESS_FORM } from './address.ts';

const REDIS = one(
  'URL',
  textThat(REDIS_ADDRESS_FORM, (value) => parseRedisAddress(value) !== undefined, 'something else'),
);

export const FLEET_OPTIONS = {
  Store: {
    /** The address of a Redis through which servers share all sandboxes: `redis://HOST:PORT/DB`. */
    shared: forServe(
      REDIS,
      'Share sandboxes through this Redis, such as redis://127.0.0.1:6379/0.',
      { excludes: ['db', 'watch', 'scenarioFolder'] },
    ),
  },
};

export type FleetOptions = OptionsOf<typeof FLEET_OPTIONS>;
