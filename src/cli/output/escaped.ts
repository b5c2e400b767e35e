/** Characters that control or reorder a terminal, and so could forge or hide lines. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const UNSAFE = /[\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/g;

/** The same without such characters. Tabs become spaces. */
export function withoutControls(text: string): string {
  return text.replaceAll('\t', '    ').replace(UNSAFE, '');
}

/** One line of text from a client, a file or an argument, with such characters as JSON escapes. */
export function escaped(text: string): string {
  return text.replace(UNSAFE, escapeOf);
}

/** The same for text that keeps its line breaks. */
export function escapedLines(text: string): string {
  return text.split('\n').map(escaped).join('\n');
}

/** A line for a person, prefixed with the program's name. */
export function notice(text: string): string {
  return `petstore-mock: ${escaped(text)}\n`;
}

/** A character as a JSON escape. */
export function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
