import { formatControlUrl, parseAddress } from '../core/contract/target.ts';
import { ControlClient } from './control-client.ts';
import { checkSandboxName } from './controlled-mock.ts';
import { createNodeFetch } from './node-fetch.ts';

interface ServerAddress {
  readonly url: string;
  readonly token?: string | undefined;
  readonly ca?: string | undefined;
}

/** @param url any address of the server: with or without `/v1` or `/__mock`, of a sandbox or of none */
export function createClient({ url, token, ca }: ServerAddress, name?: string) {
  const { root, sandbox } = parseAddress(url);
  if (!/^https?:\/\/./.test(root)) {
    const expected = 'expected the address of a petstore-mock';
    throw new TypeError(`url: ${expected}, found ${JSON.stringify(url)}`);
  }
  checkSandboxName(sandbox);
  const fetch = createNodeFetch({ ca });
  const control = formatControlUrl({ root, sandbox });
  return { root, sandbox, client: new ControlClient({ url: control, token, fetch, name }) };
}
