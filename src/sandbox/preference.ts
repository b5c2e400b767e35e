/** What a request asks of the mock with `Prefer` (RFC 7240). */
export interface Preference {
  /** The status of the reply. */
  readonly status: number | undefined;
  /** The scenario whose rules are tried first. */
  readonly scenario: string | undefined;
}

/** One preference: a name and a value, quoted or not. Its parameters are passed over. */
const PREFERENCE = /(?:^|,)\s*(code|scenario)\s*=\s*(?:"([^"]*)"|([^\s,;"]+))/gi;

const STATUS = /^[2-5]\d\d$/;

/** Reads a `Prefer` header. Preferences that are not the mock's are passed over, as HTTP asks for. */
export function readPrefer(header: string): Preference {
  let status: number | undefined;
  let scenario: string | undefined;
  for (const [, name, quoted, plain] of header.matchAll(PREFERENCE)) {
    const value = quoted ?? plain ?? '';
    // The first one counts where a preference is repeated (RFC 7240, section 2).
    if (name?.toLowerCase() === 'scenario') scenario ??= value;
    else if (STATUS.test(value)) status ??= Number(value);
  }
  return { status, scenario };
}
