import { describe } from '../../words.ts';
import { UsageError } from '../failures.ts';

/**
 * Takes words such as `status=shipped` apart.
 *
 * @throws UsageError for a word of another form
 */
export function assignmentsOf(words: readonly string[]): (readonly [name: string, text: string])[] {
  return words.map((word) => {
    const [, name, text] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    if (name !== undefined && text !== undefined) return [name, text];
    throw new UsageError(`ctl: expected NAME=VALUE, found ${describe(word)}`);
  });
}
