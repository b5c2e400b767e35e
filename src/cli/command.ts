import { DEFAULTS } from '../core/limits.ts';
import { describe } from '../core/words.ts';
import { type Command, refusal, UsageError } from '../terminal/command.ts';
import type { WordUsage } from '../terminal/program-feature.ts';
import type { Flags } from './flags.ts';

export function requireWords(
  name: string,
  [usage, min, max]: WordUsage,
  words: readonly string[],
): void {
  if (words.length >= min && words.length <= max) return;
  const needs = `${name} ${words.length < min ? 'needs' : 'takes'} ${usage || 'no words'}`;
  throw new UsageError(words.length > 0 ? `${needs}; found ${describe(words.join(' '))}` : needs);
}

/** Callable addresses for those that mean every interface. */
const CALLABLE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Where `health` and `ctl` look for a server. */
export function findServerUrl(flags: Flags): string {
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

/** A command of the program, which knows all flags. */
export type ProgramCommand = Command<Flags>;
