import type { Writable } from 'node:stream';
import { nameOf, type VariantRun } from './report.ts';

const CLEAR_LINE = '\r\u001B[K';

/** Shows the progress of a sweep on one line of a terminal. */
export class Progress {
  readonly #write: (text: string) => void;
  #total = 0;
  #done = 0;
  #failed = 0;

  constructor(notices: Writable) {
    const isTerminal = 'isTTY' in notices && notices.isTTY === true;
    this.#write = (text) => {
      if (isTerminal) notices.write(`${CLEAR_LINE}${text}`);
    };
  }

  baseline(): void {
    this.#write('sweep: running the command as it is');
  }

  start(total: number): void {
    this.#total = total;
    this.#write(`sweep: 0 of ${total} options`);
  }

  finished(run: VariantRun): void {
    this.#done += 1;
    if (run.verdict === 'failed') this.#failed += 1;
    const failed = this.#failed > 0 ? `, ${this.#failed} failed` : '';
    this.#write(`sweep: ${this.#done} of ${this.#total} options${failed}: ${nameOf(run)}`);
  }

  again(run: VariantRun): void {
    this.#write(`sweep: again, alone: ${nameOf(run)}`);
  }

  clear(): void {
    this.#write('');
  }
}
