import { createClient } from '../../client/connect-client.ts';
import { type ControlClient, ControlError } from '../../client/control-client.ts';
import { writeJson } from '../../core/json.ts';
import { DEFAULT_SANDBOX } from '../../core/limits.ts';
import { countText } from '../../core/words.ts';
import { Failure, parseChoice, readCertificate, UsageError } from '../../terminal/command.ts';
import { escapeControls, type Terminal } from '../../terminal/terminal.ts';
import { findServerUrl, type ProgramCommand, requireWords } from '../command.ts';
import { type FlagName, type Flags, spell } from '../flags.ts';
import { ACTION_NAMES, actionShape } from './ctl-actions.ts';
import { exchangeRow, parseAssignments, renderResult } from './ctl-tables.ts';

export const ctl: ProgramCommand = async ({ flags, positionals, terminal }) => {
  const [first, ...words] = positionals;
  const listed = 'an action that "petstore-mock ctl --help" lists';
  const name = parseChoice(ACTION_NAMES, first, 'ctl', listed);
  const { takes, run, flags: own = [], defaultOnly = false } = actionShape(name);
  requireWords(`ctl ${name}`, takes, words);
  const ofOthers = ACTION_NAMES.flatMap<FlagName>((action) => actionShape(action).flags ?? []);
  const foreign = ofOthers.find((flag) => flags[flag] !== undefined && !own.includes(flag));
  if (foreign !== undefined) throw new UsageError(`ctl ${name} takes no --${spell(foreign)}`);
  const client = await openClient(flags, defaultOnly);
  try {
    if (flags.follow) return await follow(client, words, terminal, flags.json);
    const result = await run(client, words, flags);
    const { text = '', json = { done: text.trimEnd() } } = result;
    return { text: renderResult(result, terminal.style), json, exitCode: 0 };
  } catch (error) {
    throw error instanceof Error && !(error instanceof UsageError) ? explainError(error) : error;
  }
};

async function openClient(flags: Flags, defaultOnly: boolean): Promise<ControlClient> {
  const { token, sandbox } = flags;
  const url = findServerUrl(flags);
  const ca = await readCertificate('ca', flags.ca);
  const { client, sandbox: named } = createClient({ url, token, ca }, 'ctl');
  return client.sandbox(defaultOnly ? DEFAULT_SANDBOX : (sandbox ?? named));
}

async function follow(
  client: ControlClient,
  words: readonly string[],
  { output, notices }: Terminal,
  json = false,
): Promise<never> {
  const events = client.events('GET /requests/stream', { query: parseAssignments(words) });
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

function explainError(error: Error): Failure {
  const refused = error instanceof ControlError && error.code === 'unauthorized';
  const why = refused
    ? 'the control API requires its token: give it with --token or PETSTORE_MOCK_TOKEN'
    : error.message;
  return new Failure(why, { cause: error });
}
