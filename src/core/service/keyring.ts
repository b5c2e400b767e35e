/** The API key that every mock accepts by default. */
export const DEMO_KEY = 'demo-key';
const DEFAULT_READ_ONLY_KEYS = ['demo-read-only-key'] as const;

/** The API key of the document's second deployment, staging. */
export const STAGING_KEY = 'staging-key';

export interface Keyring {
  readonly valid: ReadonlySet<string>;
  readonly readOnly: ReadonlySet<string>;
  readonly invalid: ReadonlySet<string> | 'all';
  readonly allReadOnly: boolean;
  /** Whether every key is accepted that is not listed as invalid (`--any-key`). */
  readonly any: boolean;
  /** When each key expires. The entry `all` applies to keys without their own. */
  readonly expires: ReadonlyMap<string, Expiry>;
}

export type Expiry =
  | { readonly kind: 'after'; readonly milliseconds: number }
  | { readonly kind: 'at'; readonly instant: number };

export interface KeyLists {
  readonly valid?: readonly string[] | undefined;
  readonly readOnly?: readonly string[] | undefined;
  readonly allReadOnly?: boolean | undefined;
  readonly invalid?: readonly string[] | 'all' | undefined;
  readonly any?: boolean | undefined;
  readonly expires?: ReadonlyMap<string, Expiry> | undefined;
}

/** The keys of staging. No scenario changes them. */
export const STAGING_KEYS: KeyLists = { valid: [STAGING_KEY], readOnly: [] };

/** `valid` replaces every default key, as all are public; `readOnly` only the read-only one. */
export function createKeyring(lists: KeyLists): Keyring {
  const { valid, readOnly, allReadOnly = false, invalid, any = false, expires = NEVER } = lists;
  return {
    valid: new Set(valid ?? [DEMO_KEY]),
    readOnly: new Set(readOnly ?? (valid === undefined ? DEFAULT_READ_ONLY_KEYS : [])),
    allReadOnly,
    invalid: invalid === 'all' ? invalid : new Set(invalid),
    any,
    expires,
  };
}

const NEVER: ReadonlyMap<string, Expiry> = new Map();

export type KeyCheck =
  | { readonly ok: true; readonly key: string; readonly readOnly: boolean }
  | KeyRefusal;

export interface KeyRefusal {
  readonly ok: false;
  readonly reason: string;
  readonly tokenGiven: boolean;
}

/** Finds what a key may do, or why it is refused. It is a bearer token (RFC 6750, section 2.1). */
export function checkKey(
  keys: Keyring,
  authorization: string | undefined,
  { now, startedAt }: { readonly now: number; readonly startedAt: number },
): KeyCheck {
  if (authorization === undefined) return refuseKey('the Authorization header is missing');
  const key = bearerToken(authorization);
  if (key === undefined) return refuseKey('the Authorization scheme is not Bearer');
  if (key === '') return refuseKey('the token after Bearer is empty');
  if (keys.invalid === 'all') return refuseKey('all keys are listed as invalid', true);
  if (keys.invalid.has(key)) return refuseKey('this key is listed as invalid', true);
  const expiry = keys.expires.get(key) ?? keys.expires.get('all');
  const expiresAt = expiry?.kind === 'after' ? startedAt + expiry.milliseconds : expiry?.instant;
  if (expiresAt !== undefined && now >= expiresAt) return refuseKey('the key has expired', true);
  if (keys.readOnly.has(key)) return { ok: true, key, readOnly: true };
  if (keys.any || keys.valid.has(key)) return { ok: true, key, readOnly: keys.allReadOnly };
  // Clients confuse the keys of the two deployments, so the message names the right one.
  if (key === STAGING_KEY) return refuseKey('this key is for staging, at /~staging/v1', true);
  const hint = keys.valid.has(STAGING_KEY) ? `; staging accepts ${STAGING_KEY}` : '';
  return refuseKey(`the key is unknown${hint}`, true);
}

function refuseKey(reason: string, tokenGiven = false): KeyCheck {
  return { ok: false, reason, tokenGiven };
}

/** Whether the whole token is a listed key, even if it looks like `KEY~SANDBOX`. */
export function isListedKey(keys: Keyring, authorization: string | undefined): boolean {
  const key = bearerToken(authorization) ?? '';
  const { valid, readOnly, invalid, expires } = keys;
  const isInvalid = invalid !== 'all' && invalid.has(key);
  return valid.has(key) || readOnly.has(key) || expires.has(key) || isInvalid;
}

const BEARER = /^Bearer(?: +(.*))?$/i;

/** The token; empty if the header has none, undefined if it has another scheme. */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const bearer = BEARER.exec(authorization);
  return bearer === null ? undefined : (bearer[1] ?? '').trim();
}

/** How many keys have a counter. With `--any-key`, clients can invent any number of keys. */
const MAX_KEYS = 1000;

interface RateWindow {
  /** By the clock of the sandbox, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly count: number;
}

/** The rate window of each key, the most recently used key last. */
export type RateWindows = ReadonlyMap<string, RateWindow>;

export const NO_RATES: RateWindows = new Map();

export type Rate = `${number}/${'s' | 'm'}`;

export interface RateCount {
  readonly rates: RateWindows;
  /** The seconds until the next window begins; undefined if the request is within the limit. */
  readonly wait: number | undefined;
}

/** Counts a request of a key. Its window begins with the first request, not at a full second. */
export function countRequest(before: RateWindows, key: string, rate: Rate, now: number): RateCount {
  const [max, unit] = rate.split('/');
  const length = unit === 's' ? 1000 : 60_000;
  const rates = new Map(before);
  const window = rates.get(key);
  rates.delete(key);
  if (window === undefined || now - window.startedAt >= length || now < window.startedAt) {
    rates.set(key, { startedAt: now, count: 1 });
    const [oldest = key] = rates.keys();
    if (rates.size > MAX_KEYS) rates.delete(oldest);
    return { rates, wait: undefined };
  }
  const { startedAt, count } = window;
  rates.set(key, { startedAt, count: count + 1 });
  if (count < Number(max)) return { rates, wait: undefined };
  return { rates, wait: Math.max(1, Math.ceil((startedAt + length - now) / 1000)) };
}

/** The first of these keys that works; undefined if none does. */
export function findWorkingKey(lists: KeyLists): string | undefined {
  const { valid, readOnly, invalid, any } = createKeyring(lists);
  const candidates = [...valid, ...readOnly, ...(any ? ['any-key'] : [])];
  return invalid === 'all' ? undefined : candidates.find((key) => !invalid.has(key));
}
