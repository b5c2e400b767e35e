/**
 * The start of a text, at most so many characters. It holds on to no more than it shows: a slice of a
 * long text would keep all of it in memory.
 */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return Buffer.from(text.slice(0, most), 'utf16le').toString('utf16le');
}
