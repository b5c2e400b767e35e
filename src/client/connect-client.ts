import { formatControlUrl, parseAddress } from '../core/contract/target.ts';
import { NAME_FORM, NAME_PATTERN } from '../core/limits.ts';
import { ControlClient } from './control-client.ts';
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
  const fetch = createNodeFetch(ca === undefined ? {} : { ca });
  const control = formatControlUrl({ root, sandbox });
  return { root, sandbox, client: new ControlClient({ url: control, token, fetch, name }) };
}

export function checkSandboxName(name: string): void {
  if (NAME_PATTERN.test(name)) return;
  throw new TypeError(`sandbox name: expected ${NAME_FORM}, found ${JSON.stringify(name)}`);
}
