import { createInterface } from 'node:readline/promises';
import { hostName, isLoopbackName, parseBaseUrl } from '../../core/contract/base-url.ts';
import { describe } from '../../core/words.ts';
import { Failure, misuse, readCertificate, UsageError } from '../../terminal/command.ts';
import { createProgress, formatNotice, type Terminal } from '../../terminal/terminal.ts';
import { DeploymentClient, DeploymentError } from './deployment-client.ts';
import type { DeploymentFlags } from './flags.ts';

export async function withProgress<T>(
  client: DeploymentClient,
  command: 'check' | 'record',
  { notices }: Terminal,
  work: (progress: (text: string) => void) => Promise<T>,
): Promise<T> {
  const progress = createProgress(notices, command);
  try {
    return await work(progress);
  } catch (error) {
    if (!(error instanceof DeploymentError)) throw error;
    const why = command === 'record' ? 'nothing was recorded\n' : '';
    throw new Failure(why + error.message, { cause: error });
  } finally {
    progress('');
    client.close();
  }
}

export function readKey(flags: DeploymentFlags): string {
  const [key, ...others] = flags.deploymentKey ?? [];
  if (key === undefined) throw new UsageError('--key is required');
  if (others.length === 0) return key;
  throw new UsageError('--key can be given only once for a deployment');
}

export async function openDeployment(
  url: string,
  flags: DeploymentFlags,
  { variables }: Terminal,
): Promise<DeploymentClient> {
  const expected = 'the base URL of a deployment, such as https://staging.example/v1';
  const base = parseBaseUrl(url);
  if (base === undefined) throw misuse('URL', expected, describe(url));
  const { timeout, rate } = flags;
  const ca = await readCertificate('cacert', flags.cacert);
  const key = readKey(flags);
  return new DeploymentClient({ url: base, key, timeout, rate, ca, variables });
}

/** Asks before `requests` (such as `up to 90 requests`) go to a host other than this machine. */
export async function askConsent(
  url: URL,
  requests: string,
  yes: boolean | undefined,
  { notices }: Terminal,
): Promise<void> {
  notices.write(formatNotice(`${url.host} will get ${requests}`));
  if (yes || isLoopbackName(hostName(url))) return;
  if (!process.stdin.isTTY) {
    throw new UsageError(
      `--yes is required to send requests to ${url.host}: there is no terminal to ask on`,
    );
  }
  const prompt = createInterface({ input: process.stdin, output: notices });
  const answer = await prompt.question('Continue? [y/N] ').catch(() => {
    // After Ctrl-C or Ctrl-D, the cursor is still behind the question.
    notices.write('\n');
    return '';
  });
  prompt.close();
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new UsageError('nothing was sent');
}
