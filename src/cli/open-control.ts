import { createClient } from '../client/connect-client.ts';
import { type ControlClient, ControlError } from '../client/control-client.ts';
import { Failure, readCertificate } from '../terminal/command.ts';
import { findServerUrl } from './command.ts';
import type { Flags } from './flags.ts';

/** The client of the server that the flags name, in the sandbox that they or its address name. */
export async function openControl(
  flags: Flags,
  name: string,
  only?: string,
): Promise<ControlClient> {
  const { token, sandbox } = flags;
  const url = findServerUrl(flags);
  const ca = await readCertificate('ca', flags.ca);
  const { client, sandbox: named } = createClient({ url, token, ca }, name);
  return client.sandbox(only ?? sandbox ?? named);
}

export function explainError(error: Error): Failure {
  const refused = error instanceof ControlError && error.code === 'unauthorized';
  const why = refused
    ? 'the control API requires its token: give it with --token or PETSTORE_MOCK_TOKEN'
    : error.message;
  return new Failure(why, { cause: error });
}
