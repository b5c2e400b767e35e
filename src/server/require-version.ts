/** The oldest supported versions. That of TypeScript is only checked by tests. */
export const OLDEST = {
  'Node.js': '20.19',
  TypeScript: '5.9',
  vitest: '3.2',
  Playwright: '1.40',
  Jest: '29.0',
} as const;

/** @throws Error in one line; otherwise an older version would fail with obscure errors */
export function requireVersion(name: keyof typeof OLDEST, found: string | undefined): void {
  if (found === undefined) return;
  const [major = 0, minor = 0] = found.split('.').map(Number);
  const [oldest = 0, oldestMinor = 0] = OLDEST[name].split('.').map(Number);
  if (major > oldest || (major === oldest && minor >= oldestMinor)) return;
  throw new Error(`petstore-mock needs ${name} ${OLDEST[name]} or later, found ${found}`);
}
