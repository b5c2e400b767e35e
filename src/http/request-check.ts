import type { IncomingMessage } from 'node:http';
import { describe } from '../words.ts';
import type { EdgeError } from './edge-errors.ts';

/** A host with or without a port (RFC 9110, section 7.2); brackets around an IPv6 address. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/**
 * Checks what HTTP requires of every request and Node does not check.
 *
 * @param invalid the status of a malformed request
 * @returns undefined if nothing is wrong
 */
export function requestError(
  request: IncomingMessage,
  invalid: () => 400 | 422,
): EdgeError | undefined {
  const problem = hostProblem(request);
  if (problem !== undefined) {
    return { code: 'invalid_input', status: invalid(), message: `Host: expected ${problem}` };
  }
  if (request.httpVersionMajor !== 1) {
    const message = `expected HTTP/1.1 or HTTP/1.0, found HTTP/${request.httpVersion}`;
    return { code: 'http_version_not_supported', status: 505, message };
  }
  const coding = request.headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    const message = `Transfer-Encoding: expected chunked, found ${describe(coding)}`;
    return { code: 'transfer_coding_not_implemented', status: 501, message };
  }
  return undefined;
}

/** What is wrong with the `Host` (RFC 9112, section 3.2). */
function hostProblem({ headers, httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  const { host } = headers;
  if (host === undefined) {
    return httpVersion === '1.1' ? 'a name or address, found nothing' : undefined;
  }
  if (!HOST.test(host)) {
    return `a name or address with or without a port, found ${describe(host)}`;
  }
  return hasTwoHosts(rawHeaders) ? 'one, found more' : undefined;
}

/** Node keeps only the first `Host`. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count > 1;
}
