import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';

/** Bytes kept of a command's output: the last ones say why it failed. */
const KEPT = 64 * 1024;

/** The end of a command's output. */
export class Tail {
  #chunks: Buffer[] = [];
  #size = 0;

  add(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#size += bytes.length;
    if (this.#size < 2 * KEPT) return;
    this.#chunks = [Buffer.concat(this.#chunks).subarray(-KEPT)];
    this.#size = KEPT;
  }

  /** The last lines that are not blank, without colours and other terminal controls. */
  lines(most: number): string[] {
    const bytes = Buffer.concat(this.#chunks).subarray(-KEPT);
    const text = stripVTControlCharacters(new StringDecoder('utf8').end(bytes));
    const lines = text
      .split(/\r?\n|\r/)
      .map((line) => line.replace(CONTROLS, '').replace(ORDERING, '').trimEnd());
    return lines.filter((line) => line !== '').slice(-most);
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is left out.
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\uFFFE\uFFFF]/g;

/** Characters that make a terminal write from right to left or break a line. */
const ORDERING = /[\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/g;
