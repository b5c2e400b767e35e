/** Works out of the box. */
export const DEMO_KEY = 'demo-key';
const DEFAULT_READ_ONLY_KEYS = ['demo-read-only-key'] as const;

/** Of the document's second deployment. */
export const STAGING_KEY = 'staging-key';

export interface Keyring {
  readonly valid: ReadonlySet<string>;
  readonly readOnly: ReadonlySet<string>;
  readonly invalid: ReadonlySet<string> | 'all';
  readonly allReadOnly: boolean;
  /** Accepts every key that is not listed as invalid. */
  readonly any: boolean;
  /** When keys expire. `all` applies to keys without their own entry. */
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

/** No scenario changes them. */
export const STAGING_KEYS: KeyLists = { valid: [STAGING_KEY], readOnly: [] };

/** `valid` replaces all default keys, so that no publicly known key works; `readOnly` only its own. */
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

/** What a key may do, or why it is refused. It comes as RFC 6750, section 2.1 says. */
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
  // Clients confuse the two deployments.
  if (key === STAGING_KEY) return refuseKey('this key is for staging, at /~staging/v1', true);
  const hint = keys.valid.has(STAGING_KEY) ? `; staging accepts ${STAGING_KEY}` : '';
  return refuseKey(`the key is unknown${hint}`, true);
}

function refuseKey(reason: string, tokenGiven = false): KeyCheck {
  return { ok: false, reason, tokenGiven };
}

/** Whether the whole token is a listed key, `~` included. */
export function isListedKey(keys: Keyring, authorization: string | undefined): boolean {
  const key = bearerToken(authorization) ?? '';
  const { valid, readOnly, invalid, expires } = keys;
  const isInvalid = invalid !== 'all' && invalid.has(key);
  return valid.has(key) || readOnly.has(key) || expires.has(key) || isInvalid;
}

const BEARER = /^Bearer(?: +(.*))?$/i;

/** Empty if there is none, undefined for another scheme. */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const bearer = BEARER.exec(authorization);
  return bearer === null ? undefined : (bearer[1] ?? '').trim();
}

/** How many keys are counted: with `--any-key`, clients can invent any number. */
const MAX_KEYS = 1000;

interface RateWindow {
  /** By the clock of the sandbox, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly count: number;
}

/** The windows by key, in the order of their latest requests. */
export type RateWindows = ReadonlyMap<string, RateWindow>;

export const NO_RATES: RateWindows = new Map();

export type Rate = `${number}/${'s' | 'm'}`;

export interface RateCount {
  readonly rates: RateWindows;
  /** The seconds until the next window; undefined within the limit. */
  readonly wait: number | undefined;
}

/** A window starts with its first request. */
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

/** A key that these lists accept, if there is one. */
export function findWorkingKey(lists: KeyLists): string | undefined {
  const { valid, readOnly, invalid, any } = createKeyring(lists);
  const candidates = [...valid, ...readOnly, ...(any ? ['any-key'] : [])];
  return invalid === 'all' ? undefined : candidates.find((key) => !invalid.has(key));
}
