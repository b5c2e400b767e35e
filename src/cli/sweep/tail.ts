import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { withoutControls } from '../output/escaped.ts';

/** Bytes kept of a command's output. The last lines say why it failed. */
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
    const lines = text.split(/\r?\n|\r/).map((line) => withoutControls(line).trimEnd());
    return lines.filter((line) => line !== '').slice(-most);
  }
}
