import { validateFile } from '../../scenario/validate-file.ts';
import { type Command, refusal } from '../command.ts';
import { escaped } from '../terminal.ts';

/** Checks scenario and fixture files. Problems go to the output; they are not errors of ours. */
export const validate: Command = async ({ flags, positionals }) => {
  if (positionals.length === 0) throw refusal('validate', 'a scenario or fixture file', 'none');
  const checked: { file: string; problems: readonly string[] }[] = [];
  for (const file of positionals) checked.push({ file, problems: await validateFile(file, flags) });
  const lines = checked.flatMap(({ file, problems }) =>
    problems.length === 0 ? [`${file}: valid`] : problems,
  );
  const isValid = checked.every(({ problems }) => problems.length === 0);
  const text = `${lines.map(escaped).join('\n')}\n`;
  return { text, json: checked, exitCode: isValid ? 0 : 2 };
};
