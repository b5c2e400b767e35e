import { validateFile } from '../../scenario/validate-file.ts';
import { refusal } from '../input/given.ts';
import { escaped } from '../output/escaped.ts';
import { jsonText } from '../output/write-report.ts';
import type { Command } from './command.ts';

/** Checks scenario and fixture files. Problems go to the output; they are not errors of ours. */
export const validate: Command = async ({ flags, positionals, terminal }) => {
  if (positionals.length === 0) throw refusal('validate', 'a scenario or fixture file', 'none');
  const checked: { file: string; problems: readonly string[] }[] = [];
  for (const file of positionals) checked.push({ file, problems: await validateFile(file, flags) });
  const lines = checked.flatMap(({ file, problems }) =>
    problems.length === 0 ? [`${file}: valid`] : problems,
  );
  terminal.output.write(flags.json ? jsonText(checked) : `${lines.map(escaped).join('\n')}\n`);
  return checked.some(({ problems }) => problems.length > 0) ? 2 : 0;
};
