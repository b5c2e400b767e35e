import { existsSync } from 'node:fs';
import { FIELD_TYPES } from '../../contract/records.ts';
import { DEFAULTS } from '../../defaults.ts';
import type { ServerOptions } from '../../server.ts';
import type { GenerateOptions } from '../../store/fixture/generate-store.ts';
import { describe } from '../../words.ts';
import { UsageError } from '../failures.ts';
import type { FlagName, FlagOf } from '../flags.ts';
import { LOG_FORMATS, type LogFormat } from '../output/log.ts';
import { assumedBy } from './assume.ts';
import {
  givenAs,
  integerOf,
  isOn,
  type Layers,
  listOf,
  oneOf,
  originOf,
  refusal,
  textOf,
} from './given.ts';

/** The settings of a server, with the address that messages about it name. */
export type ServeSettings = ServerOptions & {
  readonly host: string;
  readonly port: number;
  /** Whether to reload when the fixture or a scenario changes. */
  readonly watch: boolean;
  /** Undefined: the format that suits the reader. */
  readonly log: LogFormat | undefined;
};

/**
 * Reads the flags of `serve`.
 *
 * @throws UsageError for a wrong value, or for flags that exclude each other
 */
export function serveSettings(layers: Layers): ServeSettings {
  refuseTwoStores(layers);
  return {
    ...addressOf(layers),
    fixture: textOf(layers, 'fixture') ?? DEFAULTS.fixture,
    animals: integerOf(layers, 'animals'),
    orders: integerOf(layers, 'orders'),
    seed: integerOf(layers, 'seed') ?? DEFAULTS.seed,
    assume: assumedBy(layers),
    keys: {
      valid: keysOf(layers, 'key'),
      readOnly: keysOf(layers, 'read-only-key'),
      invalid: keysOf(layers, 'invalid-key'),
      any: isOn(layers, 'any-key'),
    },
    clock: clockOf(layers),
    frozen: isOn(layers, 'freeze'),
    delay: integerOf(layers, 'delay'),
    plain: isOn(layers, 'plain'),
    scenarios: scenariosOf(layers),
    db: textOf(layers, 'db'),
    watch: isOn(layers, 'watch'),
    sandboxRequired: isOn(layers, 'sandbox-required'),
    maxSandboxes: integerOf(layers, 'max-sandboxes') ?? DEFAULTS.maxSandboxes,
    journal: integerOf(layers, 'journal') ?? DEFAULTS.journal,
    controlToken: controlTokenOf(layers),
    noControl: isOn(layers, 'no-control'),
    log: logFormatOf(layers),
  };
}

/** Where a server listens. */
export function addressOf(layers: Layers): { host: string; port: number } {
  return {
    host: textOf(layers, 'host') ?? DEFAULTS.host,
    port: integerOf(layers, 'port') ?? DEFAULTS.port,
  };
}

/** What a store is generated from. */
export function generateSettings(layers: Layers): GenerateOptions {
  return {
    animals: integerOf(layers, 'animals'),
    orders: integerOf(layers, 'orders'),
    seed: integerOf(layers, 'seed') ?? DEFAULTS.seed,
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

/** One word in a header. */
const WORD = /^[\x21-\x7e]+$/;

function keysOf(layers: Layers, name: FlagOf<'list'>): readonly string[] | undefined {
  const keys = listOf(layers, name);
  const wrong = keys?.find((key) => !WORD.test(key));
  if (wrong === undefined) return keys;
  throw refusal(originOf(layers, name), 'a key of visible ASCII characters', describe(wrong));
}

function scenariosOf(layers: Layers): readonly string[] {
  const scenarios = listOf(layers, 'scenario') ?? [];
  const several = scenarios.find((text) => text.includes(',') && !existsSync(text));
  if (several === undefined) return scenarios;
  const repeated = several.split(',').map((name) => `--scenario ${name.trim()}`);
  const found = `${describe(several)} (repeat the flag for several: ${repeated.join(' ')})`;
  throw refusal(originOf(layers, 'scenario'), 'one scenario', found);
}

function controlTokenOf(layers: Layers): string | undefined {
  const token = textOf(layers, 'control-token');
  if (token === undefined || WORD.test(token)) return token;
  // Not shown: what is almost a token is a secret too.
  const expected = 'a token of visible ASCII characters';
  throw refusal(originOf(layers, 'control-token'), expected, 'another character in it');
}

function logFormatOf(layers: Layers): LogFormat | undefined {
  const text = textOf(layers, 'log');
  return text === undefined ? undefined : oneOf(LOG_FORMATS, text, originOf(layers, 'log'));
}

function clockOf(layers: Layers): number | undefined {
  const text = textOf(layers, 'clock');
  if (text === undefined) return undefined;
  if (FIELD_TYPES.dateTime.read(text) !== undefined) return Date.parse(text);
  const expected = 'an RFC 3339 instant such as 2030-12-06T00:00:00Z';
  throw refusal(originOf(layers, 'clock'), expected, describe(text));
}
