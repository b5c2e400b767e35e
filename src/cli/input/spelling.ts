import { FLAG_NAMES, flagShape, flagSpelled, spellingOf } from '../flags.ts';

/** The flag with which the shell's script asks yargs; the words typed so far follow it. */
export const ASKED_BY = '--get-yargs-completions';

/** How yargs reads words. Values stay text, as those of the environment and of config files are. */
export const PARSER = {
  'boolean-negation': false,
  'camel-case-expansion': false,
  'dot-notation': false,
  'parse-numbers': false,
  'parse-positional-numbers': false,
  'populate--': true,
  'short-option-groups': false,
  'strip-aliased': true,
} as const;

const NAME_BY_LETTER = new Map<string, string>(
  FLAG_NAMES.filter((name) => flagShape(name).alias !== undefined).map((name) => {
    return [`-${flagShape(name).alias}`, `--${spellingOf(name)}`];
  }),
);

/** The words before `--`: what follows belongs to the command to run. */
export function ownWords(words: readonly string[]): readonly string[] {
  return words.includes('--') ? words.slice(0, words.indexOf('--')) : words;
}

/** Gives every switch its name and value: `-v` becomes `--version=true`, `--no-plain` `--plain=false`. */
export function spelledOut(words: readonly string[]): string[] {
  const ours = ownWords(words);
  const spelled = ours.map((short) => {
    const word = NAME_BY_LETTER.get(short) ?? short;
    const [, no = '', name = ''] = /^--(no-)?(.*)$/s.exec(word) ?? [];
    if (isSwitch(no + name)) return `${word}=true`;
    return isSwitch(name) ? `--${name}=false` : word;
  });
  return [...spelled, ...words.slice(ours.length)];
}

export function isSwitch(spelling: string): boolean {
  const name = flagSpelled(spelling);
  return name !== undefined && flagShape(name).type === 'switch';
}
