/** What a terminal obeys or reorders instead of showing it: whoever wrote it could forge lines, or hide them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const UNSAFE = /[\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/g;

/** A text that a client, a file or an argument had a part in, as one line that a terminal only shows. */
export function escaped(text: string): string {
  return text.replace(UNSAFE, escapeOf);
}

/** The same for a text whose lines are our own. */
export function escapedLines(text: string): string {
  return text.split('\n').map(escaped).join('\n');
}

/** A line for a person, as this program tells it. */
export function notice(text: string): string {
  return `petstore-mock: ${escaped(text)}\n`;
}

/** A character as JSON can write it too. */
export function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
