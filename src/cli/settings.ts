import { describe, FIELD_TYPES } from '../contract/records.ts';
import type { ServerOptions } from '../server.ts';
import { assumedBy } from './assume.ts';
import { UsageError } from './errors.ts';
import { FLAGS, type FlagName, type FlagOf } from './flags.ts';
import { givenAs, integerOf, isOn, type Layers, listOf, refusal, textOf } from './given.ts';

/** What a server is started with, and the address that a message about it names. */
export type ServeSettings = ServerOptions & { readonly host: string; readonly port: number };

/**
 * Reads the flags of `serve`.
 *
 * @throws UsageError where one does not say what it can say, or where two exclude each other
 */
export function serveSettings(layers: Layers): ServeSettings {
  refuseTwoStores(layers);
  return {
    ...addressOf(layers),
    fixture: textOf(layers, 'fixture') ?? FLAGS.fixture.default,
    animals: integerOf(layers, 'animals'),
    orders: integerOf(layers, 'orders'),
    seed: integerOf(layers, 'seed') ?? FLAGS.seed.default,
    assume: assumedBy(layers),
    keys: {
      valid: keysOf(layers, 'key'),
      readOnly: keysOf(layers, 'read-only-key'),
      invalid: keysOf(layers, 'invalid-key'),
      any: isOn(layers, 'any-key'),
    },
    clock: clockOf(layers),
    frozen: isOn(layers, 'freeze'),
    plain: isOn(layers, 'plain'),
  };
}

/** Where a server listens. */
export function addressOf(layers: Layers): { host: string; port: number } {
  return {
    host: textOf(layers, 'host') ?? FLAGS.host.default,
    port: integerOf(layers, 'port') ?? FLAGS.port.default,
  };
}

/** The size of a generated store where it is not given: that of the shipped fixture. */
const GENERATED = { animals: 64, orders: 14 } as const;

export function generateSettings(layers: Layers): {
  animals: number;
  orders: number;
  seed: number;
} {
  return {
    animals: integerOf(layers, 'animals') ?? GENERATED.animals,
    orders: integerOf(layers, 'orders') ?? GENERATED.orders,
    seed: integerOf(layers, 'seed') ?? FLAGS.seed.default,
  };
}

function refuseTwoStores(layers: Layers): void {
  const fixture = givenAs(layers, 'fixture');
  if (fixture === undefined) return;
  const counts: readonly FlagName[] = ['animals', 'orders'];
  for (const name of counts) {
    const count = givenAs(layers, name);
    if (count === undefined) continue;
    throw new UsageError(
      `${count.origin} generates a store and ${fixture.origin} names one: drop ${count.origin} to start from the fixture, or ${fixture.origin} to generate`,
    );
  }
}

/** What can stand in a header as one word. */
const KEY = /^[\x21-\x7e]+$/;

function keysOf(layers: Layers, name: FlagOf<'list'>): readonly string[] | undefined {
  const keys = listOf(layers, name);
  const wrong = keys?.find((key) => !KEY.test(key));
  if (wrong === undefined) return keys;
  const origin = givenAs(layers, name)?.origin ?? name;
  throw refusal(origin, 'a key of visible ASCII characters', describe(wrong));
}

function clockOf(layers: Layers): number | undefined {
  const text = textOf(layers, 'clock');
  if (text === undefined) return undefined;
  const instant = FIELD_TYPES.dateTime.read(text) === undefined ? Number.NaN : Date.parse(text);
  if (!Number.isNaN(instant) && isDay(text.slice(0, 'yyyy-mm-dd'.length))) return instant;
  const expected = 'an RFC 3339 instant such as 2030-12-06T00:00:00Z';
  throw refusal(givenAs(layers, 'clock')?.origin ?? 'clock', expected, describe(text));
}

/** Date.parse takes February 30 for March 2. */
function isDay(day: string): boolean {
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}
