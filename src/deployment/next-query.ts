import type { DeploymentReply } from './deployment-client.ts';

const NEXT = /<[^>?]*(\?[^>#]*)[^>]*>\s*;[^,<]*\brel="?(?:[^",;]* )?next\b/i;

/**
 * The query of the link to the next page (RFC 8288); undefined without one. Its host counts for
 * nothing: behind a proxy it may be an inner one.
 */
export function nextQuery({ headers }: Pick<DeploymentReply, 'headers'>): string | undefined {
  const links = headers.filter(
    (_, at) => headers[at - 1]?.toLowerCase() === 'link' && at % 2 === 1,
  );
  return NEXT.exec(links.join(', '))?.[1];
}
