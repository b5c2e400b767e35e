import { createInterface } from 'node:readline/promises';
import type { Readable } from 'node:stream';
import { hostOf } from '../../contract/base-url.ts';
import { isLoopbackName } from '../../control/loopback.ts';
import { UsageError } from '../failures.ts';
import { notice } from '../output/escaped.ts';
import type { Terminal } from '../output/terminal.ts';

/**
 * Names the host and the number of requests before the first one. For a host other than this machine,
 * asks on a terminal unless `yes` is given.
 *
 * @param requests such as `up to 90 requests, 40 of which change something`
 * @throws UsageError if nobody agrees
 */
export async function askConsent(
  url: URL,
  requests: string,
  yes: boolean | undefined,
  { notices }: Pick<Terminal, 'notices'>,
  input: Readable & { readonly isTTY?: boolean } = process.stdin,
): Promise<void> {
  notices.write(notice(`${url.host} will get ${requests}`));
  if (yes || isLoopbackName(hostOf(url))) return;
  if (input.isTTY !== true) {
    throw new UsageError(
      `--yes is required to send requests to ${url.host}, since there is no terminal to ask on`,
    );
  }
  const prompt = createInterface({ input, output: notices });
  const answer = await prompt.question('Continue? [y/N] ');
  prompt.close();
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new UsageError('nothing was sent');
}
