import type { IncomingMessage } from 'node:http';

/** A host with or without a port (RFC 9110, section 7.2); brackets around an IPv6 address. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** Checks the `Host` of requests, one after another (RFC 9112, section 3.2). */
export class HostCheck {
  /** The last one that was right: clients send the same again and again. */
  #known = '';

  /** What is wrong with it, in words. */
  faultOf({ headers, httpVersion, rawHeaders }: IncomingMessage): string | undefined {
    const { host } = headers;
    if (host === undefined) {
      return httpVersion === '1.1' ? 'the request names no Host' : undefined;
    }
    if (host !== this.#known) {
      if (!HOST.test(host)) return 'the Host is no name or address with or without a port';
      this.#known = host;
    }
    return namesTwo(rawHeaders) ? 'the request names more than one Host' : undefined;
  }
}

/** Node keeps the first `Host` only, so the others have to be looked for. */
function namesTwo(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count > 1;
}
