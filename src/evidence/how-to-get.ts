import { DEFAULT_URL } from '../contract/base-url.ts';
import type { PossibleReply } from '../contract/cases.ts';
import { operationShape } from '../contract/operations.ts';
import { curlCommand } from '../curl.ts';

/**
 * A curl command that gets a reply.
 *
 * @param url of the service; by default that of a mock on its default port
 */
export function howToGet(
  { operation, status }: Pick<PossibleReply, 'operation' | 'status'>,
  url = DEFAULT_URL,
  key = 'demo-key',
): string {
  const { method, path } = operationShape(operation);
  const headers = [
    ['Authorization', `Bearer ${key}`],
    ['Prefer', `code=${status}`],
  ] as const;
  return curlCommand({
    method,
    url: `${url}${path.replaceAll(/\{\w+\}/g, '1')}`,
    headers: status === 401 ? [] : headers,
  });
}
