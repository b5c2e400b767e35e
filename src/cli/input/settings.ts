import { DEFAULTS } from '../../defaults.ts';
import type { ServerOptions } from '../../server.ts';
import { UsageError } from '../failures.ts';
import type { Settings } from './given.ts';

/** The options of a server, with the address that messages name. */
export interface ServeSettings extends ServerOptions {
  readonly host: string;
  readonly port: number;
}

/**
 * The options of a server. A flag with the name of an option is that option.
 *
 * @throws UsageError for flags that exclude each other
 */
export function serveSettings({ flags, originOf, checked }: Settings): ServeSettings {
  const generated = (['animals', 'orders'] as const).find((name) => flags[name] !== undefined);
  if (flags.fixture !== undefined && generated !== undefined) {
    const [count, fixture] = [originOf(generated), originOf('fixture')];
    throw new UsageError(
      `${count} generates a store and ${fixture} names one: drop ${count} to start from the fixture, or ${fixture} to generate`,
    );
  }
  const alone = (['db', 'watch'] as const).find((name) => flags[name] !== undefined);
  if (flags.shared !== undefined && alone !== undefined) {
    const [shared, other] = [originOf('shared'), originOf(alone)];
    throw new UsageError(
      `${other} is for a single server and ${shared} for several: drop one of them`,
    );
  }
  return {
    ...flags,
    checked,
    host: flags.host ?? DEFAULTS.host,
    port: flags.port ?? DEFAULTS.port,
    keys: {
      valid: flags.key,
      readOnly: flags.readOnlyKey,
      invalid: flags.invalidKey,
      any: flags.anyKey,
    },
  };
}
