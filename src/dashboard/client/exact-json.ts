/**
 * Marks a long integer while it is a string. Random for each page, so that no client can forge it.
 */
const MARK = `${Math.random().toString(36).slice(2)} `;

/** The shortest run of digits that a double may round. */
const LONG = /\d{16}/;

const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/gs;

const MARKED_INTEGER = new RegExp(`"${MARK}(-?\\d+)"`, 'g');

/** Parses JSON. An integer that a double cannot hold becomes a bigint. */
export function parseExact<T>(text: string): T {
  if (!LONG.test(text)) return JSON.parse(text);
  const marked = text.replaceAll(STRING_OR_NUMBER, (token) =>
    isRounded(token) ? `"${MARK}${token}"` : token,
  );
  return JSON.parse(marked, (_name, value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  );
}

/** Writes JSON with every bigint as its digits. */
export function writeExact(value: unknown, indent = 0): string {
  const marked = JSON.stringify(
    value,
    (_name, member: unknown) => (typeof member === 'bigint' ? `${MARK}${member}` : member),
    indent,
  );
  return marked.replaceAll(MARKED_INTEGER, '$1');
}

function isRounded(token: string): boolean {
  return /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token));
}
