/** The keys that work out of the box. */
const DEFAULT_KEYS = ['demo-key'] as const;
const DEFAULT_READ_ONLY_KEYS = ['demo-read-only-key'] as const;

/** Which API keys a world takes. */
export interface Keyring {
  readonly valid: ReadonlySet<string>;
  readonly readOnly: ReadonlySet<string>;
  readonly invalid: ReadonlySet<string>;
  /** Takes every key that is not listed as invalid. */
  readonly any: boolean;
  /** The checks that succeed, by the whole header as clients write it: the way of most requests. */
  readonly expected: ReadonlyMap<string, KeyCheck>;
}

export interface KeyLists {
  readonly valid?: readonly string[] | undefined;
  readonly readOnly?: readonly string[] | undefined;
  readonly invalid?: readonly string[] | undefined;
  readonly any?: boolean | undefined;
}

/** A keyring of the given lists; a list that is not given holds the defaults. */
export function keyring({ valid, readOnly, invalid, any }: KeyLists): Keyring {
  const keys = {
    valid: new Set(valid ?? DEFAULT_KEYS),
    readOnly: new Set(readOnly ?? DEFAULT_READ_ONLY_KEYS),
    invalid: new Set(invalid),
    any: any ?? false,
  };
  const expected = new Map<string, KeyCheck>();
  for (const key of [...keys.valid, ...keys.readOnly]) {
    const authorization = `Bearer ${key}`;
    const check = readKey(keys, authorization);
    if (check.ok) expected.set(authorization, check);
  }
  return { ...keys, expected };
}

export type KeyCheck =
  | { readonly ok: true; readonly key: string; readonly readOnly: boolean }
  /** `tokenGiven`: RFC 6750 wants an error code in the challenge only where there was a token. */
  | { readonly ok: false; readonly reason: string; readonly tokenGiven: boolean };

const BEARER = /^Bearer(?: +(.*))?$/i;

/** Checks an `Authorization` header (RFC 6750, section 2.1). */
export function checkKey(keys: Keyring, authorization: string | undefined): KeyCheck {
  if (authorization === undefined) return refused('the Authorization header is missing');
  return keys.expected.get(authorization) ?? readKey(keys, authorization);
}

function readKey(keys: Omit<Keyring, 'expected'>, authorization: string): KeyCheck {
  const bearer = BEARER.exec(authorization);
  if (bearer === null) return refused('the Authorization scheme is not Bearer');
  const key = bearer[1]?.trim() ?? '';
  if (key === '') return refused('the token after Bearer is empty');
  if (keys.invalid.has(key)) return refused('this key is listed as invalid', true);
  if (keys.readOnly.has(key)) return { ok: true, key, readOnly: true };
  if (keys.any || keys.valid.has(key)) return { ok: true, key, readOnly: false };
  return refused('the key is not known', true);
}

function refused(reason: string, tokenGiven = false): KeyCheck {
  return { ok: false, reason, tokenGiven };
}
