/** What a request asks of the mock with `Prefer` (RFC 7240). */
export interface Preference {
  /** The status of the reply. */
  readonly status: number | undefined;
  /** The scenario whose rules come first. */
  readonly scenario: string | undefined;
  /** Why a `code` cannot be used; undefined if there is none or it can. */
  readonly wrong: string | undefined;
  /** Whether a preference that cannot be used fails the request (RFC 7240, section 4.4). */
  readonly strict: boolean;
}

/** One preference: a name and a value, quoted or not. Its parameters are ignored. */
const PREFERENCE = /(?:^|,)\s*(code|scenario|handling)\s*=\s*(?:"([^"]*)"|([^\s,;"]+))/gi;

const STATUS = /^[2-5]\d\d$/;

/** Reads a `Prefer` header. Other preferences are ignored, as HTTP requires. */
export function readPrefer(header: string): Preference {
  const given = new Map<string, string>();
  for (const [, name = '', quoted, plain] of header.matchAll(PREFERENCE)) {
    const known = name.toLowerCase();
    // Of a repeated preference the first counts (RFC 7240, section 2).
    if (!given.has(known)) given.set(known, quoted ?? plain ?? '');
  }
  const code = given.get('code');
  const right = code !== undefined && STATUS.test(code);
  return {
    status: right ? Number(code) : undefined,
    scenario: given.get('scenario'),
    wrong: code === undefined || right ? undefined : wrongCode(code),
    strict: given.get('handling')?.toLowerCase() === 'strict',
  };
}

function wrongCode(code: string): string {
  return `Prefer: code: expected a status from 200 to 599, found ${JSON.stringify(code.slice(0, 60))}`;
}
