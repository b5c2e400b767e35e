import type { ControlClient } from '../../client/control-client.ts';
import { writeJson } from '../../core/json.ts';
import { DEFAULT_SANDBOX } from '../../core/limits.ts';
import { countText } from '../../core/words.ts';
import { Failure, parseChoice, UsageError } from '../../terminal/command.ts';
import { escapeControls, type Terminal } from '../../terminal/terminal.ts';
import { requireWords } from '../command-table.ts';
import { type FlagName, type ProgramCommand, spell } from '../flags.ts';
import { explainError, openControl } from '../open-control.ts';
import { ACTION_NAMES, actionShape } from './ctl-actions.ts';
import { exchangeRow, parseFilters, renderResult } from './ctl-tables.ts';

export const ctl: ProgramCommand = async ({ flags, positionals, terminal }) => {
  const [first, ...words] = positionals;
  const listed = 'an action that "petstore-mock ctl --help" lists';
  const name = parseChoice(ACTION_NAMES, first, 'ctl', listed);
  const { takes, run, flags: own = [], defaultOnly = false } = actionShape(name);
  requireWords(`ctl ${name}`, takes, words);
  const ofOthers = ACTION_NAMES.flatMap<FlagName>((action) => actionShape(action).flags ?? []);
  const foreign = ofOthers.find((flag) => flags[flag] !== undefined && !own.includes(flag));
  if (foreign !== undefined) throw new UsageError(`ctl ${name} takes no --${spell(foreign)}`);
  const { client: named } = await openControl(flags, 'ctl');
  const client = defaultOnly ? named.sandbox(DEFAULT_SANDBOX) : named;
  try {
    if (flags.follow) return await follow(client, words, terminal, flags.json);
    const result = await run(client, words, flags);
    const { text = '', json = { done: text.trimEnd() } } = result;
    return { text: renderResult(result, terminal.style), json, exitCode: 0 };
  } catch (error) {
    throw error instanceof Error && !(error instanceof UsageError) ? explainError(error) : error;
  }
};

async function follow(
  client: ControlClient,
  words: readonly string[],
  { output, notices }: Terminal,
  json = false,
): Promise<never> {
  const events = client.events('GET /requests/stream', { query: parseFilters(words) });
  for await (const { name, data } of events) {
    if (name === 'dropped') {
      notices.write(`the journal dropped ${countText(data.count, 'exchange')}\n`);
    }
    if (name !== 'exchange') continue;
    const line = json
      ? writeJson(data)
      : escapeControls(Object.values(exchangeRow(data)).join(' '));
    output.write(`${line}\n`);
  }
  throw new Failure('the server ended the stream');
}
