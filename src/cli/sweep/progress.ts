import type { Writable } from 'node:stream';
import { nameOf, type VariantRun } from './report.ts';

const CLEAR_LINE = '\r\u001B[K';

/** Shows the progress of a sweep on one line of a terminal. */
export class Progress {
  readonly #notices: Writable;
  readonly #shown: boolean;
  #total = 0;
  #done = 0;
  #failed = 0;

  constructor(notices: Writable) {
    this.#notices = notices;
    this.#shown = 'isTTY' in notices && notices.isTTY === true;
  }

  baseline(): void {
    this.#show('running the command as it is');
  }

  start(total: number): void {
    this.#total = total;
    this.#show(`0 of ${total} options`);
  }

  finished(run: VariantRun): void {
    this.#done += 1;
    if (run.verdict === 'failed') this.#failed += 1;
    const failed = this.#failed > 0 ? `, ${this.#failed} failed` : '';
    this.#show(`${this.#done} of ${this.#total} options${failed}: ${nameOf(run)}`);
  }

  again(run: VariantRun): void {
    this.#show(`again, alone: ${nameOf(run)}`);
  }

  clear(): void {
    if (this.#shown) this.#notices.write(CLEAR_LINE);
  }

  #show(text: string): void {
    if (this.#shown) this.#notices.write(`${CLEAR_LINE}sweep: ${text}`);
  }
}
